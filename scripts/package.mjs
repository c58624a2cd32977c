// `npm run package [-- --out FILE]`: a production bundle in a folder of its own, and the .vsix made from it. Everything
// that cannot be bundled (native modules) is left to set-up, which puts it into a versioned data folder.
import { cpSync, mkdirSync, rmSync, statSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { home, manifest } from "./setup/places.mjs";
import { must } from "./setup/process.mjs";
import { report, setUp } from "./setup.mjs";

const staging = join(home, "out", "package");
const option = process.argv.indexOf("--out");
const target = resolve(
  option === -1 ? join(home, `gradus-${manifest.version}.vsix`) : (process.argv[option + 1] ?? ""),
);

async function main() {
  await setUp();
  const { PackageManager, createVSIX, listFiles } = await import("@vscode/vsce");
  rmSync(staging, { recursive: true, force: true });
  const files = await listFiles({ cwd: home, packageManager: PackageManager.None });
  for (const name of files.filter((name) => !name.startsWith("dist/"))) {
    mkdirSync(dirname(join(staging, name)), { recursive: true });
    cpSync(join(home, name), join(staging, name));
  }
  cpSync(join(home, ".vscodeignore"), join(staging, ".vscodeignore"));
  await must(
    process.execPath,
    [join(home, "esbuild.mjs"), "--production", `--outdir=${join(staging, "dist")}`],
    { what: "bundling", cwd: home },
  );
  mkdirSync(dirname(target), { recursive: true });
  await createVSIX({
    cwd: staging,
    packagePath: target,
    dependencies: false,
    allowMissingRepository: true,
    // The README's picture is in the package: its link stays as it is.
    rewriteRelativeLinks: false,
  });
  console.log(`${target} (${(statSync(target).size / 1e6).toFixed(1)} MB)`);
}

main().catch((error) => void (process.exitCode = report(error)));
