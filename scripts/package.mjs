// `npm run package [-- --out FILE]`: a production bundle in a folder of its own, the .vsix made from it and, next to it,
// the tarball for npm. Both work as they are for every command but those that train: the engine and a native SQLite are
// left to set-up, which puts them into a versioned data folder. `--here` (npm pack) makes the bundle in dist/ instead.
import { cpSync, mkdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { unbundled, webGpuPackages } from "./setup/dependencies.mjs";
import { home, manifest } from "./setup/places.mjs";
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

/** What npm installs must neither fetch nor build anything: everything it needs is in the bundle. */
function writeManifest() {
  const { scripts: _scripts, devDependencies, ...rest } = manifest;
  const versions = Object.fromEntries(
    [...unbundled, ...webGpuPackages].map((name) => [name, devDependencies[name]]),
  );
  writeFileSync(
    join(staging, "package.json"),
    `${JSON.stringify({ ...rest, devDependencies: versions }, null, 2)}\n`,
  );
}

const megabytes = (file) => `${file} (${(statSync(file).size / 1e6).toFixed(1)} MB)`;

async function main() {
  await setUpBundle();
  if (process.argv.includes("--here")) return bundleInto(join(home, "dist"));
  const { PackageManager, createVSIX, listFiles } = await import("@vscode/vsce");
  rmSync(staging, { recursive: true, force: true });
  const files = await listFiles({ cwd: home, packageManager: PackageManager.None });
  for (const name of files.filter((name) => !name.startsWith("dist/"))) {
    mkdirSync(dirname(join(staging, name)), { recursive: true });
    cpSync(join(home, name), join(staging, name));
  }
  writeManifest();
  await bundleInto(join(staging, "dist"));
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
  console.log(megabytes(target));
  console.log(megabytes(join(folder, `${manifest.name}-${manifest.version}.tgz`)));
}

main().catch((error) => void (process.exitCode = report(error)));
