// What of the engine is installed where: read from the files themselves, nothing is loaded or built.
import { existsSync, lstatSync, readdirSync, readlinkSync, realpathSync, statSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { enginesFolder, libraries } from "./engine.mjs";
import { chosenVariant, dataFolder, modulesOf, nativeRoot, readJson, versions } from "./places.mjs";
import { sha256Of } from "./wheels.mjs";

/** The addon speaks Node-API 8, which every Node from 20 on offers: nothing is built per Node version. */
const NODE_API = 8;

const versionOf = (root, name) => {
  const file = join(modulesOf(root), name, "package.json");
  return existsSync(file) ? readJson(file).version : null;
};

function bytesBelow(folder) {
  if (!existsSync(folder)) return 0;
  return readdirSync(folder, { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile())
    .reduce((sum, entry) => sum + statSync(join(entry.parentPath ?? entry.path, entry.name)).size, 0);
}

function foldersIn(folder) {
  if (!existsSync(folder)) return [];
  const entries = readdirSync(folder, { withFileTypes: true });
  return entries.flatMap((entry) => (entry.isDirectory() ? [entry.name] : [])).sort();
}

/** One built engine: its folder, which wheels it was made of, and whether the libraries are still what was fetched. */
async function built(folder, verify) {
  const file = join(folder, "library.json");
  const record = existsSync(file) ? readJson(file) : undefined;
  const sums = {};
  for (const name of libraries) {
    const recorded = record?.libraries[name] ?? null;
    const path = join(folder, "deps", "lib", name);
    const present = existsSync(path);
    sums[name] = { present, sha256: recorded };
    if (verify && present) {
      sums[name].sha256 = await sha256Of(path);
      sums[name].matches = recorded === null ? null : sums[name].sha256 === recorded;
    }
  }
  return {
    folder,
    variant: record?.variant ?? (folder.endsWith("-gpu") ? "gpu" : "cpu"),
    addon: existsSync(join(folder, "lib", "napi-v8", "tfjs_binding.node")),
    wheels: record?.wheels ?? null,
    libraries: sums,
    nvidia: foldersIn(join(folder, "deps", "nvidia")),
    bytes: bytesBelow(join(folder, "deps")),
  };
}

/** Where the package's library comes from: one of ours by a link, its own download, or nothing. */
function linkOf(place) {
  const link = join(place, "lib");
  const found = lstatSync(link, { throwIfNoEntry: false });
  if (found === undefined) return { kind: "none", folder: null };
  if (!found.isSymbolicLink()) return { kind: "own", folder: link };
  if (!existsSync(link)) return { kind: "broken", folder: dirname(readlinkSync(link)) };
  return { kind: "linked", folder: dirname(realpathSync(link)) };
}

/** Node ABIs that set-up built SQLite's binding for: the one native part that is built for each of them. */
function sqliteAbis() {
  const folder = join(dataFolder(), "native");
  if (!existsSync(folder)) return [];
  return readdirSync(folder)
    .flatMap((name) => /^better-sqlite3-.*-abi(\d+)-/.exec(name)?.[1] ?? [])
    .sort();
}

/** Everything `gradus engine status` knows without computing; `verify` reads the libraries and compares checksums. */
export async function engineStatus({ verify = false } = {}) {
  const root = process.env.GRADUS_NATIVE_ROOT || nativeRoot();
  const place = join(modulesOf(root), "@tensorflow", "tfjs-node-gpu");
  const folders = existsSync(enginesFolder())
    ? readdirSync(enginesFolder()).filter((name) => name.startsWith("tfjs-"))
    : [];
  const engines = [];
  for (const name of folders.sort()) engines.push(await built(join(enginesFolder(), name), verify));
  const link = linkOf(place);
  const linked = engines.find(({ folder }) => existsSync(folder) && realpathSync(folder) === link.folder);
  return {
    root,
    data: dataFolder(),
    node: { version: process.versions.node, abi: process.versions.modules, nodeApi: process.versions.napi },
    addon: {
      package: versionOf(root, "@tensorflow/tfjs-node-gpu"),
      nodeApi: NODE_API,
      sqliteAbis: sqliteAbis(),
    },
    tensorflow: versions.tensorflow,
    wanted: chosenVariant(),
    linked: {
      ...link,
      variant: linked?.variant ?? null,
      name: link.folder === null ? null : basename(link.folder),
    },
    engines,
    wasm: versionOf(root, "@tensorflow/tfjs-backend-wasm"),
    webgpu: { dawn: versionOf(root, "webgpu"), tfjs: versionOf(root, "@tensorflow/tfjs-backend-webgpu") },
  };
}
