// Cheap answers to "is this still up to date?".
import { createHash } from "node:crypto";
import { existsSync, lstatSync, readFileSync, readdirSync, realpathSync, statSync } from "node:fs";
import { join } from "node:path";
import { modulesOf, readJson, recordFile, sha256 } from "./places.mjs";

/** What the bundle is made of. */
export const bundleSources = [
  "esbuild.mjs",
  "package.json",
  "scripts/package",
  "extension",
  "server",
  "shared",
  "webviews",
];

/** Name, size and time of every file below: changes with any edit, removal or switch of branch; reads no contents. */
export function fingerprint(root, names = bundleSources) {
  const hash = createHash("sha1");
  const visit = (path) => {
    const { mtimeMs, size } = statSync(path);
    hash.update(`${path.slice(root.length)}\0${size}\0${mtimeMs}\n`);
  };
  const walk = (path) => {
    for (const entry of readdirSync(path, { withFileTypes: true }).sort((a, b) => (a.name < b.name ? -1 : 1)))
      if (entry.isDirectory()) walk(join(path, entry.name));
      else visit(join(path, entry.name));
  };
  for (const name of names) {
    const path = join(root, name);
    if (!existsSync(path)) continue;
    if (statSync(path).isDirectory()) walk(path);
    else visit(path);
  }
  return hash.digest("hex");
}

export const bundleStamp = (root) => join(root, "dist", ".built");
export const isBundled = (root) =>
  existsSync(bundleStamp(root)) && readFileSync(bundleStamp(root), "utf8") === fingerprint(root);

/** package-lock.json in one word; what the installed packages are compared with. */
export const lockHash = (root) =>
  existsSync(join(root, "package-lock.json"))
    ? sha256(readFileSync(join(root, "package-lock.json")))
    : "none";

/**
 * Why the packages must be installed, or undefined. npm writes down what it installed; every package that the
 * lockfile asks for must be there in its version (optional ones may be for another machine). A linked node_modules
 * is somebody else's: it is used as it is.
 */
export function whyInstall(root) {
  const modules = modulesOf(root);
  if (!existsSync(modules)) return "node_modules is missing";
  if (lstatSync(modules).isSymbolicLink()) return undefined;
  const written = join(modules, ".package-lock.json");
  if (!existsSync(written)) return "node_modules is incomplete";
  const installed = readJson(written).packages;
  for (const [name, wanted] of Object.entries(readJson(join(root, "package-lock.json")).packages)) {
    if (name === "" || wanted.optional || wanted.devOptional || wanted.peer) continue;
    if (installed[name]?.version !== wanted.version)
      return `package-lock.json asks for ${name.replace(/.*node_modules\//, "")} ${wanted.version}`;
  }
  return undefined;
}

/** The recorded Node is there; where it is the running one, it was not replaced by another version meanwhile. */
const stillThere = ({ path, version }) =>
  existsSync(path) && (path !== realpathSync(process.execPath) || version === process.versions.node);

/** What set-up wrote down, when it still fits these packages and that Node; else undefined. */
export function currentRecord(root, home = root) {
  const file = recordFile(root);
  if (!existsSync(file)) return undefined;
  const record = readJson(file);
  return record.format === 1 && record.lock === lockHash(home) && stillThere(record.node)
    ? record
    : undefined;
}
