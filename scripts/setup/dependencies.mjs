// The npm packages: `npm ci` in a checkout, the few that cannot be bundled in an extension's data folder.
import { existsSync } from "node:fs";
import { join } from "node:path";
import { home, isCheckout, manifest, modulesOf, nativeRoot, readJson, writeFile } from "./places.mjs";
import { must, say } from "./process.mjs";
import { whyInstall } from "./stamp.mjs";

/** Packages that stay folders on disk: native ones, and esbuild with its own binary. */
export const unbundled = [
  "@tensorflow/tfjs-backend-wasm",
  "@tensorflow/tfjs-core",
  "@tensorflow/tfjs-node-gpu",
  "better-sqlite3",
  "esbuild",
  "node-api-headers",
];

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
  const wanted = Object.fromEntries(unbundled.map((name) => [name, manifest.devDependencies[name]]));
  const versionOf = (name) => {
    const file = join(modulesOf(root), name, "package.json");
    return existsSync(file) ? readJson(file).version : undefined;
  };
  if (unbundled.every((name) => versionOf(name) === wanted[name])) return;
  say(`installing native packages into ${root}`);
  writeFile(
    join(root, "package.json"),
    `${JSON.stringify({ name: "gradus-native", private: true, version: manifest.version, dependencies: wanted }, null, 2)}\n`,
  );
  await must("npm", ["install", "--prefix", root, ...quiet], { what: "npm install", fix, cwd: root });
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
