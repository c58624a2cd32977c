// The native compute library: TensorFlow's C library out of its wheel, and the addon compiled against it. Both are
// kept per user, so a second checkout only links to them.
import {
  cpSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readlinkSync,
  renameSync,
  rmSync,
  symlinkSync,
} from "node:fs";
import { createRequire } from "node:module";
import { availableParallelism } from "node:os";
import { dirname, join } from "node:path";
import { compilerFix, fetchZig, findCompiler, findPip } from "./compiler.mjs";
import {
  chosenVariant,
  dataFolder,
  engineFolder,
  modulesOf,
  rememberVariant,
  versions,
  writeFile,
} from "./places.mjs";
import { SetupError, attempt, lastLines, must, say } from "./process.mjs";
import { fetchWheels, resolveWheels, sha256Of, sizeOf, unpackWheel } from "./wheels.mjs";

export const libraries = ["libtensorflow_cc.so.2", "libtensorflow_framework.so.2"];

/** The closure of the headers that the addon's sources include, out of some thousands in the wheel. */
export const headerFiles = [
  ...[
    "c_api",
    "c_api_macros",
    "tf_attrtype",
    "tf_buffer",
    "tf_datatype",
    "tf_status",
    "tf_tensor",
    "tf_tstring",
  ].map((name) => `tensorflow/c/${name}.h`),
  "tensorflow/c/eager/c_api.h",
  ...["tensorflow/core", "tsl"].flatMap((place) => [
    `${place}/platform/ctstring.h`,
    `${place}/platform/ctstring_internal.h`,
  ]),
  "xla/tsl/c/tsl_status.h",
];

/**
 * The wheels with TensorFlow's C library. sha256 of those that were tried: pip refuses any other file. Elsewhere pip
 * checks what the index says. The CUDA wheel's own requirements (`and-cuda`) are NVIDIA's libraries.
 */
const wheels = {
  "linux-x64-cpu": {
    name: "tensorflow-cpu",
    platforms: ["manylinux_2_27_x86_64"],
    sha256: "2b847d217b02ee7731ed91431daf3250daa0196c3c94614d23be27232e6e5b6c",
  },
  "linux-arm64-cpu": { name: "tensorflow", platforms: ["manylinux_2_27_aarch64"] },
  "linux-x64-gpu": {
    name: "tensorflow",
    platforms: ["manylinux_2_27_x86_64", "manylinux_2_17_x86_64", "manylinux2014_x86_64"],
    extra: "and-cuda",
  },
};

/** Loads the addon as the policy does and multiplies: {ok, output}. */
const proof = `
const util = require("node:util");
util.isNullOrUndefined ??= (value) => value === null || value === undefined;
util.isArray ??= Array.isArray;
const tf = require("@tensorflow/tfjs-node-gpu");
const product = tf.matMul(tf.tensor2d([[1, 2], [3, 4]]), tf.tensor2d([[5, 6], [7, 8]])).dataSync().join();
if (tf.getBackend() !== "tensorflow" || product !== "19,22,43,50") { console.error("wrong product: " + product); process.exit(3); }
`;
export const proveEngine = (root) =>
  attempt(process.execPath, ["-e", proof], {
    cwd: root,
    timeout: 120_000,
    env: { TF_CPP_MIN_LOG_LEVEL: "2" },
  });

const members = [
  ...libraries.map((name) => `tensorflow/${name}=deps/lib/${name}`),
  ...headerFiles.map((name) => `tensorflow/include/${name}=deps/include/${name}`),
];
const gigabytes = (bytes) => `${(bytes / 1e9).toFixed(1)} GB`;

/** The wheels of a variant with their sizes, smallest promise first: what is known without asking anybody. */
async function wanted(pip, variant, folder) {
  const wheel = wheels[`${process.platform}-${process.arch}-${variant}`];
  if (wheel === undefined)
    throw new SetupError(
      `no wheel of TensorFlow's C library${variant === "gpu" ? " with CUDA" : ""} is known for ${process.platform}-${process.arch}`,
      variant === "gpu" ? "use engine.backend: webgpu, or gradus engine install" : undefined,
    );
  const { name, platforms, sha256, extra } = wheel;
  if (extra === undefined)
    return { platforms, found: [{ name, version: versions.tensorflow, sha256, bytes: 250e6 }] };
  say(`asking PyPI for the parts of TensorFlow ${versions.tensorflow} with CUDA`);
  const all = await resolveWheels(pip, `${name}[${extra}]==${versions.tensorflow}`, platforms, folder);
  const found = all.filter((one) => one.name === name || one.name.startsWith("nvidia-"));
  for (const one of found) one.bytes = await sizeOf(one);
  return { platforms, found };
}

/** More than this is fetched only after the person said so. */
const ASK_ABOVE = 1e9;
export async function agree(found, confirm) {
  const total = found.reduce((sum, { bytes = 0 }) => sum + bytes, 0);
  const unknown = found.filter(({ bytes }) => bytes === undefined).length;
  const size = `${gigabytes(total)}${unknown === 0 ? "" : ` and ${unknown} wheels of unknown size`}`;
  if (found.length > 1)
    for (const { name, version, bytes } of found)
      say(`  ${name} ${version}: ${bytes === undefined ? "unknown size" : `${Math.ceil(bytes / 1e6)} MB`}`);
  if (total <= ASK_ABOVE && unknown === 0) return;
  if (!(await confirm(`${size} will be fetched from PyPI, and about twice as much kept on disk`)))
    throw new SetupError(`${size} would be fetched from PyPI`, "gradus engine install --gpu --yes");
}

/** Fetches and unpacks the library; records what it is. */
export async function fetchLibrary(pip, folder, variant, confirm) {
  const { platforms, found } = await wanted(pip, variant, folder);
  await agree(found, confirm);
  const [{ name }] = found.filter((one) => one.name.startsWith("tensorflow"));
  say(`fetching TensorFlow ${versions.tensorflow} from PyPI (${name}, once)`);
  const download = join(folder, "download");
  for (const wheel of found) {
    // One at a time: what is unpacked is removed before the next is fetched.
    const [file] = await fetchWheels(pip, [wheel], platforms, download);
    wheel.sha256 ??= await sha256Of(file);
    const taken = wheel.name === name ? members : ["nvidia/=deps/nvidia/"];
    await unpackWheel(pip, file, folder, taken);
    rmSync(download, { recursive: true });
  }
  const sums = {};
  for (const library of libraries) sums[library] = await sha256Of(join(folder, "deps", "lib", library));
  writeFile(
    join(folder, "library.json"),
    `${JSON.stringify({ variant, wheels: found.map(({ name, version, sha256 }) => ({ name, version, sha256 })), libraries: sums }, null, 2)}\n`,
  );
  rmSync(join(folder, "report.json"), { force: true });
}

async function compileAddon(root, compiler, folder) {
  const require = createRequire(join(root, "package.json"));
  const source = dirname(require.resolve("@tensorflow/tfjs-node-gpu/package.json"));
  const nodeHeaders = join(dirname(require.resolve("node-api-headers/package.json")), "include");
  mkdirSync(join(folder, "lib", "napi-v8"), { recursive: true });
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
  // By their paths: not every linker takes -l:name. What is recorded is their own name in either case.
  const link = [
    "-shared",
    ...units.map(object),
    ...libraries.map((name) => join(folder, "deps", "lib", name)),
    "-Wl,-rpath,$ORIGIN/../../deps/lib",
    "-o",
    join(folder, "lib", "napi-v8", "tfjs_binding.node"),
  ];
  await must(compiler[0], [...compiler.slice(1), ...link], { what: "linking the addon" });
  for (const unit of units) rmSync(object(unit));
}

/** The addon of the other variant, which serves this one, too: both libraries have the same names and interface. */
function takeAddon(folder, variant) {
  const other = join(engineFolder(variant === "gpu" ? "cpu" : "gpu"), "lib");
  if (!existsSync(join(other, "napi-v8", "tfjs_binding.node"))) return false;
  cpSync(other, join(folder, "lib"), { recursive: true });
  return true;
}

/** Builds next to the final place and renames: a half-built engine is never found there. */
async function buildEngine(root, variant, confirm) {
  const pip = findPip();
  if (pip === undefined)
    throw new SetupError("no Python with pip to fetch TensorFlow's library with", compilerFix());
  const target = engineFolder(variant);
  const other = isBuilt(variant === "gpu" ? "cpu" : "gpu");
  const compiler = other ? undefined : (findCompiler() ?? (await fetchZig(pip)));
  if (compiler === undefined && !other)
    throw new SetupError("no C++ compiler to build the addon with", compilerFix());
  mkdirSync(dirname(target), { recursive: true });
  for (const name of readdirSync(dirname(target)))
    if (name.startsWith(".building-")) rmSync(join(dirname(target), name), { recursive: true });
  const folder = mkdtempSync(join(dirname(target), ".building-"));
  try {
    await fetchLibrary(pip, folder, variant, confirm);
    if (!takeAddon(folder, variant)) await compileAddon(root, compiler, folder);
    rmSync(target, { recursive: true, force: true });
    renameSync(folder, target);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Where a link points, or undefined for anything else. */
const targetOf = (path) =>
  lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() ? readlinkSync(path) : undefined;

/** Puts the built engine where the package looks for it. A right link stays: somebody may be loading through it. */
export function linkEngine(root, variant = chosenVariant()) {
  const place = join(modulesOf(root), "@tensorflow", "tfjs-node-gpu");
  for (const name of ["lib", "deps"]) {
    const [built, wanted] = [join(engineFolder(variant), name), join(place, name)];
    if (targetOf(wanted) === built) continue;
    rmSync(wanted, { recursive: true, force: true });
    if (process.platform === "win32") cpSync(built, wanted, { recursive: true });
    else symlinkSync(built, wanted);
  }
}

const isBuilt = (variant) => existsSync(join(engineFolder(variant), "lib", "napi-v8", "tfjs_binding.node"));
const native = (reason, folder) => ({
  backend: "native",
  ...(folder === undefined ? {} : { folder }),
  reason,
});

/** The package's own way: it fetches an older library and addon from its makers' host, where that is reachable. */
async function ownInstallScript(root) {
  say("trying the package's own download");
  await attempt(
    "npm",
    ["rebuild", "@tensorflow/tfjs-node-gpu", "--ignore-scripts=false", "--loglevel=error"],
    { cwd: root, timeout: 10 * 60_000 },
  );
  const { status } = await proveEngine(root);
  return status === 0 ? native("TensorFlow from the package's own download") : undefined;
}

const never = () => Promise.resolve(false);

/**
 * Makes the native engine work for the packages of `root`; returns the record's entry, WebAssembly being the last resort.
 * `variant` is remembered for later set-ups; without it theirs holds. `confirm(question)` is asked before much is fetched.
 */
export async function setUpEngine(root, { variant, confirm = never } = {}) {
  const wish = variant ?? chosenVariant();
  let failure = { message: "", fix: undefined };
  try {
    if (!isBuilt(wish)) await buildEngine(root, wish, confirm);
    linkEngine(root, wish);
    const { status, output } = await proveEngine(root);
    if (status === 0) {
      rememberVariant(wish);
      const reason = `TensorFlow ${versions.tensorflow} from PyPI${wish === "gpu" ? " with CUDA" : ""}`;
      return native(reason, engineFolder(wish));
    }
    failure = new SetupError(
      `the built addon does not load\n${lastLines(output)}`,
      `rm -rf ${engineFolder(wish)} && npm run setup`,
    );
    // A GPU library that does not load must not take the working one away.
    if (wish === "gpu" && isBuilt("cpu")) linkEngine(root, "cpu");
  } catch (error) {
    if (!(error instanceof SetupError) || variant === "gpu") throw error;
    failure = error;
  }
  if (variant === "gpu") throw failure;
  say(`no native engine from PyPI: ${failure.message}`);
  const own = process.env.GRADUS_WITHOUT === undefined ? await ownInstallScript(root) : undefined;
  if (own !== undefined) return own;
  const fix = `${failure.fix ?? compilerFix()}, then npm run setup`;
  say(`training will run on WebAssembly, ten to twenty times slower. To fix it: ${fix}`);
  return { backend: "wasm", reason: failure.message.split("\n")[0], mend: fix };
}

/** Whether a later set-up could do better than the WebAssembly it recorded. */
export const couldBuildEngine = () =>
  isBuilt(chosenVariant()) || (findPip() !== undefined && findCompiler() !== undefined);
export const enginesFolder = () => join(dataFolder(), "engine");
