// The Node that everything is built for, its headers, and a Node 20 for the workbench of the tests.
import { existsSync, readFileSync, realpathSync } from "node:fs";
import { dirname, join } from "node:path";
import { installCommand } from "../../shared/lib/systemWords.mjs";
import { dataFolder, versions } from "./places.mjs";
import { SetupError, must, say } from "./process.mjs";

const least = [20, 19];

/** Throws when the running Node is too old. */
export function checkNode(version = process.versions.node) {
  const [major, minor] = version.split(".").map(Number);
  if (major > least[0] || (major === least[0] && minor >= least[1])) return;
  throw new SetupError(
    `Gradus needs Node ${least.join(".")} or newer; this is ${version}`,
    `${installCommand("newerNode")}, then start again`,
  );
}

/** What set-up writes down about the running Node. */
export const thisNode = () => ({
  path: realpathSync(process.execPath),
  version: process.versions.node,
  abi: process.versions.modules,
});

const headersOf = (prefix) => {
  const file = join(prefix, "include", "node", "node_version.h");
  if (!existsSync(file)) return undefined;
  const text = readFileSync(file, "utf8");
  const number = (name) => new RegExp(`#define NODE_${name}_VERSION (\\d+)`).exec(text)?.[1];
  return `${number("MAJOR")}.${number("MINOR")}.${number("PATCH")}`;
};

const platformPackage = () =>
  `node-${process.platform === "win32" ? "win" : process.platform}-${process.arch}`;

/** Installs one npm package into its own folder below the data folder. */
export async function installAside(folder, spec, what) {
  await must(
    "npm",
    [
      "install",
      "--prefix",
      folder,
      "--ignore-scripts",
      "--no-save",
      "--no-audit",
      "--no-fund",
      "--loglevel=error",
      spec,
    ],
    { what, fix: "check that the npm registry can be reached" },
  );
}

/**
 * Folder for node-gyp's --nodedir: the running Node's own headers, else those of the npm package that carries this
 * very version. Undefined when neither exists: node-gyp then tries to fetch them itself.
 */
export const headers = () => (found ??= findHeaders());
/** Several are built side by side, and one of them fetches. */
let found;

async function findHeaders() {
  const prefix = join(dirname(realpathSync(process.execPath)), "..");
  if (headersOf(prefix) === process.versions.node) return prefix;
  const folder = join(dataFolder(), "node-headers", process.versions.node);
  const carried = join(folder, "node_modules", platformPackage());
  if (headersOf(carried) === process.versions.node) return carried;
  say(`fetching the headers of Node ${process.versions.node}`);
  try {
    await installAside(folder, `${platformPackage()}@${process.versions.node}`, "fetching Node's headers");
  } catch (error) {
    say(`no package carries them (${error.message.split("\n")[0]}); leaving it to node-gyp`);
    return undefined;
  }
  return headersOf(carried) === process.versions.node ? carried : undefined;
}

/** A Node 20 for the workbench of the tests, whose editor server runs on no newer one. */
export async function node20() {
  if (process.versions.node.startsWith("20.")) return process.execPath;
  const folder = join(dataFolder(), "node20", versions.node20);
  const binary = join(folder, "node_modules", platformPackage(), "bin", "node");
  if (!existsSync(binary)) {
    say(`fetching Node ${versions.node20} for the workbench`);
    await installAside(folder, `${platformPackage()}@${versions.node20}`, "fetching Node 20");
  }
  return binary;
}
