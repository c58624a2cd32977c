// The native compute library: TensorFlow's C library out of its wheel and the addon beside it, which a package of ours
// brings along and a checkout compiles. Both are kept per user, in one folder that the record names.
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { createRequire } from "node:module";
import { availableParallelism } from "node:os";
import { dirname, join } from "node:path";
import { brotliDecompressSync } from "node:zlib";
import { engineCommand, slower } from "../../shared/lib/systemWords.mjs";
import { findCompiler } from "./compiler.mjs";
import { fetchLibrary, recordedLibrary } from "./library.mjs";
import {
  chosenVariant,
  dataFolder,
  engineFolder,
  engineName,
  home,
  isCheckout,
  rememberVariant,
  versions,
} from "./places.mjs";
import { SetupError, attempt, lastLines, must, say } from "./process.mjs";
import { putInPlace } from "../../shared/lib/putInPlace.mjs";
import { addonPath, partsOf, systemOf, whyNone } from "./systems.mjs";
import { waysToFetch, wordFor } from "./wheels.mjs";

/** Loads the addon as a run does and multiplies: {status, output}. */
export const proveEngine = (folder) =>
  attempt(process.execPath, [join(import.meta.dirname, "proveEngine.mjs"), join(folder, addonPath)], {
    timeout: 120_000,
    env: { TF_CPP_MIN_LOG_LEVEL: "2" },
  });

/** The folder with what a package of ours has for a system, or undefined. */
function shippedAddon(system) {
  const folder = join(home, "dist", "addons", system);
  return existsSync(folder) ? folder : undefined;
}

function unpackAddon(shipped, target) {
  mkdirSync(target, { recursive: true });
  for (const name of readdirSync(shipped)) {
    const bytes = brotliDecompressSync(readFileSync(join(shipped, name)));
    writeFileSync(join(target, name.replace(/\.br$/, "")), bytes, { mode: 0o755 });
  }
}

/** Compiles the addon against the library itself, by the system's compiler. */
async function compileAddon(compiler, folder, { libraries }) {
  const require = createRequire(join(home, "package.json"));
  const source = dirname(require.resolve("@tensorflow/tfjs-node-gpu/package.json"));
  const nodeHeaders = join(dirname(require.resolve("node-api-headers/package.json")), "include");
  mkdirSync(join(folder, dirname(addonPath)), { recursive: true });
  say("compiling the addon");
  const units = ["tfjs_backend", "tfjs_binding"];
  const flags = [
    "-std=c++17",
    "-O2",
    "-fPIC",
    "-DNAPI_VERSION=8",
    `-I${source}`,
    `-I${join(folder, "deps", "include")}`,
    `-I${nodeHeaders}`,
  ];
  const object = (unit) => join(folder, `${unit}.o`);
  const compile = (unit) =>
    must(
      compiler[0],
      [...compiler.slice(1), ...flags, "-c", join(source, "binding", `${unit}.cc`), "-o", object(unit)],
      { what: "compiling the addon" },
    );
  if (availableParallelism() > 1) await Promise.all(units.map(compile));
  else for (const unit of units) await compile(unit);
  const ofMac = ["-Wl,-undefined,dynamic_lookup", "-Wl,-rpath,@loader_path/../../deps/lib"];
  // By their paths: not every linker takes -l:name. What is recorded is their own name in either case.
  const link = [
    "-shared",
    ...units.map(object),
    ...Object.values(libraries).map((path) => join(folder, path)),
    ...(process.platform === "darwin" ? ofMac : ["-Wl,-rpath,$ORIGIN/../../deps/lib"]),
    "-o",
    join(folder, addonPath),
  ];
  await must(compiler[0], [...compiler.slice(1), ...link], { what: "linking the addon" });
  for (const unit of units) rmSync(object(unit));
}

/** Puts the addon of a system into an engine's folder that has its library: ours, else compiled here. */
async function addAddon(folder, system) {
  const target = join(folder, dirname(addonPath));
  const shipped = shippedAddon(system);
  if (shipped !== undefined) return unpackAddon(shipped, target);
  if (!isCheckout) throw new SetupError(`this package has no addon for ${system}`, "install Gradus again");
  const compiler = system === systemOf() && process.platform !== "win32" ? findCompiler() : undefined;
  if (compiler !== undefined) return compileAddon(compiler, folder, partsOf(system));
  const { buildAddons } = await import("../addon/build.mjs");
  const built = join(folder, "built");
  await buildAddons(built, join(folder, "deps", "include"), [system]);
  cpSync(join(built, system), target, { recursive: true });
  rmSync(built, { recursive: true });
}

/** Builds next to the final place and renames: a half-built engine is never found there. */
async function buildEngine(target, options) {
  mkdirSync(dirname(target), { recursive: true });
  for (const name of readdirSync(dirname(target)))
    if (name.startsWith(".building-")) rmSync(join(dirname(target), name), { recursive: true, force: true });
  const folder = mkdtempSync(join(dirname(target), ".building-"));
  try {
    await fetchLibrary(folder, { ...options, compiles: isCheckout });
    await addAddon(folder, options.system);
    rmSync(target, { recursive: true, force: true });
    putInPlace(folder, target);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** TensorFlow's headers, which an engine that was made in a checkout has; else one is made. */
export async function headersFolder() {
  const headers = () =>
    builtEngines()
      .map(({ folder }) => join(folder, "deps", "include"))
      .find((folder) => existsSync(folder));
  if (headers() === undefined) await buildEngine(engineFolder("cpu"), { system: systemOf(), variant: "cpu" });
  return headers();
}

const isBuilt = (variant) => existsSync(join(engineFolder(variant), addonPath));

/** In one word, what there is to get an engine with. */
const waysNow = () => [wordFor(waysToFetch()), isCheckout ? findCompiler()?.[0] : undefined].join("+");

/** What fixes a failure, up to the command that tries again; it helps no system that has no engine. */
export function wholeFix(fix, system, command = engineCommand(home)) {
  if (fix === undefined) return command;
  const first = fix.replace(/, then start again$/, "");
  return partsOf(system) === undefined || fix.includes(command) ? fix : `${first}, then ${command}`;
}

/** How a failure ends: the run goes on, slower. */
function onWasm({ message, fix }, system) {
  const mend = wholeFix(fix, system);
  say(`no native engine: ${message}`);
  say(`training will run on WebAssembly, ${slower}. To fix it: ${mend}`);
  return { backend: "wasm", reason: message.split("\n")[0], mend, tried: waysNow() };
}

/**
 * Makes the native engine work; returns the record's entry, WebAssembly being the last resort. `variant` is remembered for
 * later set-ups; without it theirs holds. `confirm(question)` is asked before much is fetched, `ask(question)` before a library.
 */
export async function setUpEngine({ variant, confirm, ask } = {}) {
  const wish = variant ?? chosenVariant();
  const system = systemOf();
  try {
    if (!isBuilt(wish)) await buildEngine(engineFolder(wish), { system, variant: wish, confirm, ask });
    const { status, output } = await proveEngine(engineFolder(wish));
    if (status !== 0)
      throw new SetupError(
        `the native engine does not load\n${lastLines(output)}`,
        `remove ${engineFolder(wish)}, then ${engineCommand(home)}`,
      );
    rememberVariant(wish);
    const reason = `TensorFlow ${versions.tensorflow}${wish === "gpu" ? " with CUDA" : ""}`;
    return { backend: "native", folder: engineFolder(wish), reason };
  } catch (error) {
    // A GPU library that does not load must not take the working one away.
    if (!(error instanceof SetupError) || variant === "gpu") throw error;
    return onWasm(error, system);
  }
}

/** Whether a later set-up could do better than the WebAssembly it recorded: there is an engine, or another way to fetch one. */
export const couldBuildEngine = ({ tried }) => isBuilt(chosenVariant()) || waysNow() !== tried;

/**
 * Lays an engine out for another machine, as that machine's data folder has it.
 * @returns the engine's folder
 * @throws SetupError
 */
export async function layOutEngine(system, to, options = {}) {
  if (partsOf(system) === undefined) throw new SetupError(whyNone(system));
  const target = join(to, "engine", engineName("cpu"));
  await buildEngine(target, { ...options, system, variant: "cpu" });
  return target;
}

const enginesFolder = () => join(dataFolder(), "engine");
/** [{folder, record}] of the engines that are there. */
export const builtEngines = () =>
  (existsSync(enginesFolder()) ? readdirSync(enginesFolder()) : [])
    .filter((name) => name.startsWith("tfjs-"))
    .sort()
    .map((name) => join(enginesFolder(), name))
    .map((folder) => ({
      folder,
      record: existsSync(join(folder, "library.json")) ? recordedLibrary(folder) : undefined,
    }));
