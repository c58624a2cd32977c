// Where everything lies. Plain Node without dependencies: this runs before anything is installed.
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, realpathSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { putInPlace } from "../../shared/lib/putInPlace.mjs";

/** The folder that holds bin/ and dist/: a checkout, or an unpacked extension. */
export const home = realpathSync(join(dirname(fileURLToPath(import.meta.url)), "..", ".."));

/** With sources next to it, node_modules and dist are made here. An installed extension brings its dist along. */
export const isCheckout = existsSync(join(home, "server", "cli.ts"));

export const readJson = (file) => JSON.parse(readFileSync(file, "utf8"));
export const manifest = readJson(join(home, "package.json"));

/** Per user, never in the workspace. server/lib/natives.ts reads the same place. */
export function dataFolder(env = process.env) {
  return env.GRADUS_DATA || join(env.XDG_DATA_HOME || join(homedir(), ".local", "share"), "gradus");
}

/** The folder whose node_modules holds the native packages. Versioned for an extension: the editor deletes the old folder on update. */
export const nativeRoot = () => (isCheckout ? home : join(dataFolder(), "native-root", manifest.version));
export const modulesOf = (root) => join(root, "node_modules");
export const recordFile = (root) => join(modulesOf(root), ".gradus", "setup.json");

/** Versions of what is fetched outside package.json. */
export const versions = {
  addon: manifest.devDependencies["@tensorflow/tfjs-node-gpu"],
  wasm: manifest.devDependencies["@tensorflow/tfjs-backend-wasm"],
  tensorflow: "2.21.0",
  libsql: "0.5.29",
  codeServer: "4.100.3",
  node20: "20.20.2",
  neovim: "0.11.4",
  preCommit: "4.7.0",
};
export const engineName = (variant) => `tfjs-${versions.addon}-tf-${versions.tensorflow}-${variant}`;
export const engineFolder = (variant = chosenVariant()) => join(dataFolder(), "engine", engineName(variant));

/** Which library runs use, "cpu" or "gpu": per user, as `gradus engine install` last made it. */
const variantFile = () => join(dataFolder(), "engine", "variant");
export const chosenVariant = () =>
  existsSync(variantFile()) && readFileSync(variantFile(), "utf8").trim() === "gpu" ? "gpu" : "cpu";
export const rememberVariant = (variant) => writeFile(variantFile(), `${variant}\n`);
export const workbenchFolder = () => join(dataFolder(), "workbench", versions.codeServer);
export const sqliteFolder = (node = process) =>
  join(
    dataFolder(),
    "native",
    `better-sqlite3-${manifest.devDependencies["better-sqlite3"]}-abi${node.versions.modules}-${node.platform}-${node.arch}`,
  );

export const sha256 = (text) => createHash("sha256").update(text).digest("hex");

/** Written next to the place and renamed: a reader sees the old text or the new, never half of it. */
export function writeFile(file, text) {
  mkdirSync(dirname(file), { recursive: true });
  const temporary = `${file}.${process.pid}`;
  writeFileSync(temporary, text);
  putInPlace(temporary, file);
}
