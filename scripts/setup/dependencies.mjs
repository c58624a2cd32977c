// The npm packages: `npm ci` in a checkout, the few that cannot be bundled in an extension's data folder.
import { existsSync } from "node:fs";
import { join } from "node:path";
import {
  home,
  isCheckout,
  manifest,
  modulesOf,
  nativeRoot,
  readJson,
  versions,
  writeFile,
} from "./places.mjs";
import { SetupError, hasNpm, must, say } from "./process.mjs";
import { whyInstall } from "./stamp.mjs";

/**
 * Packages that a package of ours sets up: faster than what it carries in WebAssembly (server/lib/carried.ts). Prebuilt, all of
 * them: nothing is compiled by surprise.
 */
export const unbundled = { esbuild: manifest.devDependencies.esbuild, libsql: versions.libsql };

const quiet = ["--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"];
const fix = "check that the npm registry can be reached, then start again";

async function intoCheckout() {
  const reason = whyInstall(home);
  if (reason === undefined) return;
  say(`installing packages (${reason})`);
  await must("npm", ["ci", "--include=dev", ...quiet], { what: "npm ci", fix, cwd: home });
}

async function intoDataFolder() {
  const root = nativeRoot();
  const versionOf = (name) => {
    const file = join(modulesOf(root), name, "package.json");
    return existsSync(file) ? readJson(file).version : undefined;
  };
  if (Object.entries(unbundled).every(([name, version]) => versionOf(name) === version)) return;
  if (!hasNpm()) return say("there is no npm here: SQLite and esbuild run in WebAssembly");
  say(`installing esbuild and SQLite into ${root}`);
  writeFile(
    join(root, "package.json"),
    `${JSON.stringify({ name: "gradus-native", private: true, version: manifest.version, dependencies: unbundled }, null, 2)}\n`,
  );
  try {
    // What is carried does as well: no long wait for a registry that does not answer.
    await must("npm", ["install", "--prefix", root, "--fetch-retries=0", ...quiet], {
      what: "npm install",
      fix,
      cwd: root,
    });
  } catch (error) {
    if (!(error instanceof SetupError)) throw error;
    say(`${error.message.split("\n")[0]}: SQLite and esbuild run in WebAssembly`);
  }
}

export const installPackages = () => (isCheckout ? intoCheckout() : intoDataFolder());

/** What WebGPU needs in addition: optional, since few machines without CUDA have a GPU worth it. */
export const webGpuPackages = ["webgpu", "@tensorflow/tfjs-backend-webgpu"];

/** Installs the WebGPU packages next to the others, in the versions that were tested. */
export async function installWebGpu() {
  const root = nativeRoot();
  const wanted = webGpuPackages.map((name) => `${name}@${manifest.devDependencies[name]}`);
  say(`installing ${wanted.join(" and ")} into ${root}`);
  const args = ["install", "--no-save", "--prefix", root, ...quiet, ...wanted];
  await must("npm", args, { what: "npm install", fix, cwd: root });
}
