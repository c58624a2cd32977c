// `npm run package [-- --out FILE]`: a production bundle in a folder of its own, the .vsix made from it and, next to it,
// the tarball for npm and the wheel for PyPI. All work as they are for every command but those that train: TensorFlow's
// library is left to set-up, which puts it into the data folder, beside the addon that they bring for each system. `--here` (npm pack) makes the
// bundle in dist/ instead. docs/publishing.md is for whoever publishes them.
import {
  cpSync,
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { dirname, join, resolve } from "node:path";
import { deflateRawSync } from "node:zlib";
import { compressIn } from "./package/carry.mjs";
import { writeWheel } from "./package/wheel.mjs";
import { buildAddons } from "./addon/build.mjs";
import { webGpuPackages } from "./setup/dependencies.mjs";
import { headersFolder } from "./setup/engine.mjs";
import { home, manifest, sha256 } from "./setup/places.mjs";
import { must } from "./setup/process.mjs";
import { report, setUpBundle } from "./setup.mjs";

const staging = join(home, "out", "package");
const option = process.argv.indexOf("--out");
const target = resolve(
  option === -1 ? join(home, `gradus-${manifest.version}.vsix`) : (process.argv[option + 1] ?? ""),
);

const bundleInto = (folder) =>
  must(process.execPath, [join(home, "esbuild.mjs"), "--production", `--outdir=${folder}`], {
    what: "bundling",
    cwd: home,
  });

/** What npm installs must neither fetch nor build anything: everything it needs is in the bundle. Versions are kept that set-up reads. */
function writeManifest() {
  const { scripts: _scripts, devDependencies, ...rest } = manifest;
  const kept = [
    "esbuild",
    "@tensorflow/tfjs-node-gpu",
    "@tensorflow/tfjs-backend-wasm",
    ...webGpuPackages,
  ].map((name) => [name, devDependencies[name]]);
  writeFileSync(
    join(staging, "package.json"),
    `${JSON.stringify({ ...rest, devDependencies: Object.fromEntries(kept) }, null, 2)}\n`,
  );
}

/** The addons of all systems into a bundle, built once for the same sources. */
async function addAddons(dist) {
  const cache = join(home, "out", "addons");
  const sources = sha256(
    ["scripts/addon/build.mjs", "scripts/addon/symbols.json", "scripts/setup/systems.mjs", "package.json"]
      .map((name) => readFileSync(join(home, name)))
      .join(),
  );
  const built = join(cache, sources.slice(0, 16));
  if (!existsSync(join(built, "SHA256SUMS"))) {
    rmSync(cache, { recursive: true, force: true });
    await buildAddons(built, await headersFolder());
  }
  cpSync(built, join(dist, "addons"), { recursive: true });
  const large = readdirSync(built, { recursive: true }).filter((name) => /\.(node|dll)$/.test(name));
  for (const file of [...large.map((name) => join("addons", name)), "service.mjs"])
    await compressIn(join(dist, file), join(home, "out", "carried"));
  for (const line of readFileSync(join(built, "SHA256SUMS"), "utf8").trim().split("\n"))
    console.log(`  ${line}`);
}

const megabytes = (bytes) => `${(bytes / 1e6).toFixed(1)} MB`;
const sized = (file) => `${file} (${megabytes(statSync(file).size)})`;

/** A folder's files compressed one by one, as an archive holds them, the largest parts first. */
function printParts(folder, most = 12) {
  const parts = new Map();
  for (const name of readdirSync(folder, { recursive: true }).map((path) => path.replaceAll("\\", "/"))) {
    const file = join(folder, name);
    if (!statSync(file).isFile()) continue;
    const part = /^dist\/(carried\/|[^/]+$)/.test(name) ? name : name.split("/").slice(0, 2).join("/");
    parts.set(part, (parts.get(part) ?? 0) + deflateRawSync(readFileSync(file)).length);
  }
  const sorted = [...parts].sort(([, one], [, other]) => other - one);
  const rest = sorted.slice(most).reduce((sum, [, bytes]) => sum + bytes, 0);
  for (const [part, bytes] of [...sorted.slice(0, most), ["the rest", rest]])
    console.log(`  ${megabytes(bytes).padStart(8)}  ${part}`);
}

async function main() {
  await setUpBundle();
  if (process.argv.includes("--here")) {
    await bundleInto(join(home, "dist"));
    return addAddons(join(home, "dist"));
  }
  const { PackageManager, createVSIX, listFiles } = await import("@vscode/vsce");
  rmSync(staging, { recursive: true, force: true });
  const files = await listFiles({ cwd: home, packageManager: PackageManager.None });
  for (const name of files.filter((name) => !name.startsWith("dist/"))) {
    mkdirSync(dirname(join(staging, name)), { recursive: true });
    cpSync(join(home, name), join(staging, name));
  }
  writeManifest();
  await bundleInto(join(staging, "dist"));
  await addAddons(join(staging, "dist"));
  mkdirSync(dirname(target), { recursive: true });
  await createVSIX({
    cwd: staging,
    packagePath: target,
    dependencies: false,
    allowMissingRepository: true,
    allowUnusedFilesPattern: true,
    // The README's picture is in the package: its link stays as it is.
    rewriteRelativeLinks: false,
  });
  const folder = dirname(target);
  await must("npm", ["pack", "--ignore-scripts", "--pack-destination", folder], {
    what: "npm pack",
    cwd: staging,
  });
  const wheel = await writeWheel(staging, folder, manifest);
  for (const made of [target, join(folder, `${manifest.name}-${manifest.version}.tgz`), wheel])
    console.log(sized(made));
  printParts(staging);
}

main().catch((error) => void (process.exitCode = report(error)));
