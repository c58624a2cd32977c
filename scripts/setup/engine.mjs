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
  writeFileSync,
} from "node:fs";
import { createRequire } from "node:module";
import { availableParallelism } from "node:os";
import { dirname, join } from "node:path";
import { compilerMend, fetchZig, findCompiler, findPip } from "./compiler.mjs";
import { dataFolder, engineFolder, modulesOf, versions } from "./places.mjs";
import { SetupError, attempt, lastLines, must, say } from "./process.mjs";

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

/** sha256 of the wheels that were tried; pip refuses any other file. Elsewhere pip checks what the index says. */
const wheels = {
  x64: {
    name: "tensorflow-cpu",
    platform: "manylinux_2_27_x86_64",
    sha256: "2b847d217b02ee7731ed91431daf3250daa0196c3c94614d23be27232e6e5b6c",
  },
  arm64: { name: "tensorflow", platform: "manylinux_2_27_aarch64" },
};

/** Takes the wanted members out of a wheel: argv = wheel, target, then pairs "member=path". */
const unzip = `
import sys, zipfile, shutil, os
wheel, target = sys.argv[1:3]
with zipfile.ZipFile(wheel) as archive:
    for pair in sys.argv[3:]:
        member, path = pair.split("=")
        path = os.path.join(target, path)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with archive.open(member) as source, open(path, "wb") as sink:
            shutil.copyfileobj(source, sink, 1 << 20)
`;

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

async function fetchLibrary(pip, folder) {
  const wheel = process.platform === "linux" ? wheels[process.arch] : undefined;
  if (wheel === undefined)
    throw new SetupError(
      `no wheel of TensorFlow's C library is known for ${process.platform}-${process.arch}`,
    );
  const download = join(folder, "download");
  mkdirSync(download, { recursive: true });
  const requirements = join(download, "requirements.txt");
  writeFileSync(
    requirements,
    `${wheel.name}==${versions.tensorflow}${wheel.sha256 === undefined ? "" : ` --hash=sha256:${wheel.sha256}`}\n`,
  );
  say(`fetching TensorFlow ${versions.tensorflow} from PyPI (about 250 MB, once)`);
  // The library does not depend on Python's version; naming one makes pip take the same wheel everywhere.
  const args = [
    "download",
    "-q",
    "--disable-pip-version-check",
    "--no-deps",
    "--only-binary=:all:",
    "--python-version",
    "3.11",
    "--implementation",
    "cp",
    "--platform",
    wheel.platform,
    "-d",
    download,
    "-r",
    requirements,
  ];
  await must(pip[0], [...pip.slice(1), ...args], {
    what: "fetching TensorFlow",
    mend: "check that PyPI can be reached",
  });
  const file = readdirSync(download).find((name) => name.endsWith(".whl"));
  const members = [
    ...libraries.map((name) => `tensorflow/${name}=deps/lib/${name}`),
    ...headerFiles.map((name) => `tensorflow/include/${name}=deps/include/${name}`),
  ];
  say("unpacking it");
  await must(pip[0], ["-c", unzip, join(download, file), folder, ...members], {
    what: "unpacking TensorFlow",
  });
  rmSync(download, { recursive: true });
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

/** Builds beside the final place and renames: a half-built engine is never found there. */
async function buildEngine(root) {
  const pip = findPip();
  if (pip === undefined)
    throw new SetupError("no Python with pip to fetch TensorFlow's library with", compilerMend());
  const compiler = findCompiler() ?? (await fetchZig(pip));
  if (compiler === undefined) throw new SetupError("no C++ compiler to build the addon with", compilerMend());
  mkdirSync(dirname(engineFolder()), { recursive: true });
  for (const name of readdirSync(dirname(engineFolder())))
    if (name.startsWith(".building-")) rmSync(join(dirname(engineFolder()), name), { recursive: true });
  const folder = mkdtempSync(join(dirname(engineFolder()), ".building-"));
  try {
    await fetchLibrary(pip, folder);
    await compileAddon(root, compiler, folder);
    rmSync(engineFolder(), { recursive: true, force: true });
    renameSync(folder, engineFolder());
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Where a link points, or undefined for anything else. */
const targetOf = (path) =>
  lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() ? readlinkSync(path) : undefined;

/** Puts the built engine where the package looks for it. A right link stays: somebody may be loading through it. */
export function linkEngine(root) {
  const place = join(modulesOf(root), "@tensorflow", "tfjs-node-gpu");
  for (const name of ["lib", "deps"]) {
    const [built, wanted] = [join(engineFolder(), name), join(place, name)];
    if (targetOf(wanted) === built) continue;
    rmSync(wanted, { recursive: true, force: true });
    if (process.platform === "win32") cpSync(built, wanted, { recursive: true });
    else symlinkSync(built, wanted);
  }
}

const isBuilt = () => existsSync(join(engineFolder(), "lib", "napi-v8", "tfjs_binding.node"));
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

/** Makes the native engine work for the packages of `root`; returns the record's entry, WebAssembly being the last resort. */
export async function setUpEngine(root) {
  let failure = { message: "", mend: undefined };
  try {
    if (!isBuilt()) await buildEngine(root);
    linkEngine(root);
    const { status, output } = await proveEngine(root);
    if (status === 0) return native(`TensorFlow ${versions.tensorflow} from PyPI`, engineFolder());
    failure = new SetupError(
      `the built addon does not load\n${lastLines(output)}`,
      `rm -rf ${engineFolder()} && npm run setup`,
    );
  } catch (error) {
    if (!(error instanceof SetupError)) throw error;
    failure = error;
  }
  say(`no native engine from PyPI: ${failure.message}`);
  const own = process.env.GRADUS_WITHOUT === undefined ? await ownInstallScript(root) : undefined;
  if (own !== undefined) return own;
  const mend = `${failure.mend ?? compilerMend()}, then npm run setup`;
  say(`training will run on WebAssembly, ten to twenty times slower. To mend: ${mend}`);
  return { backend: "wasm", reason: failure.message.split("\n")[0], mend };
}

/** Whether a later set-up could do better than the WebAssembly it recorded. */
export const couldBuildEngine = () => isBuilt() || (findPip() !== undefined && findCompiler() !== undefined);
export const enginesFolder = () => join(dataFolder(), "engine");
