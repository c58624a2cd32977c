// What of the engine is installed where: read from the files themselves, nothing is loaded or built.
import { existsSync, readdirSync, statSync } from "node:fs";
import { basename, join } from "node:path";
import { sha256Of } from "./download.mjs";
import { builtEngines } from "./engine.mjs";
import {
  chosenVariant,
  dataFolder,
  modulesOf,
  nativeRoot,
  readJson,
  recordFile,
  versions,
} from "./places.mjs";
import { addonPath, libraryName, partsOf, systemOf } from "./systems.mjs";

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
async function built({ folder, record }, verify) {
  const sums = {};
  for (const path of Object.values(partsOf(record?.system ?? systemOf())?.libraries ?? {})) {
    const name = libraryName(path);
    const recorded = record?.libraries[name] ?? null;
    const present = existsSync(join(folder, path));
    sums[name] = { present, sha256: recorded };
    if (verify && present) {
      sums[name].sha256 = await sha256Of(join(folder, path));
      sums[name].matches = recorded === null ? null : sums[name].sha256 === recorded;
    }
  }
  return {
    folder,
    variant: record?.variant ?? (folder.endsWith("-gpu") ? "gpu" : "cpu"),
    addon: existsSync(join(folder, addonPath)),
    wheels: record?.wheels ?? null,
    libraries: sums,
    nvidia: foldersIn(join(folder, "deps", "nvidia")),
    bytes: bytesBelow(folder),
  };
}

/** Which engine runs use: the one that set-up wrote down, if it is still there. */
function linkOf(root) {
  const folder = existsSync(recordFile(root)) ? readJson(recordFile(root)).engine.folder : undefined;
  if (folder === undefined) return { kind: "none", folder: null };
  return { kind: existsSync(join(folder, addonPath)) ? "linked" : "broken", folder };
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
  const engines = [];
  for (const engine of builtEngines()) engines.push(await built(engine, verify));
  const link = linkOf(root);
  const linked = engines.find(({ folder }) => folder === link.folder);
  return {
    root,
    data: dataFolder(),
    node: { version: process.versions.node, abi: process.versions.modules, nodeApi: process.versions.napi },
    addon: {
      package: versions.addon,
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
    wasm: versions.wasm,
    webgpu: { dawn: versionOf(root, "webgpu"), tfjs: versionOf(root, "@tensorflow/tfjs-backend-webgpu") },
  };
}
