/** The packages of this checkout as `npm run package` makes them, made once for the same sources. */
import { execFile } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { promisify } from "node:util";

const run = promisify(execFile);

interface Stamp {
  readonly bundleSources: readonly string[];
  fingerprint(root: string, names: readonly string[]): string;
}

/** A folder with the .vsix, the tarball and the wheel. */
export async function packaged(): Promise<string> {
  const stamp: Stamp = await import(pathToFileURL(join(process.cwd(), "scripts/setup/stamp.mjs")).href);
  const sources = [
    ...stamp.bundleSources,
    "scripts/setup",
    "scripts/setup.mjs",
    "scripts/addon",
    "scripts/package.mjs",
    "bin",
    "presets",
    "examples",
    "README.md",
    "CHANGELOG.md",
  ];
  const folder = join(
    process.cwd(),
    "out",
    "packages",
    stamp.fingerprint(process.cwd(), sources).slice(0, 16),
  );
  if (existsSync(folder)) return folder;
  rmSync(dirname(folder), { recursive: true, force: true });
  mkdirSync(dirname(folder), { recursive: true });
  const draft = mkdtempSync(`${folder}-`);
  await run(process.execPath, [join("scripts", "package.mjs"), "--out", join(draft, "gradus.vsix")]);
  renameSync(draft, folder);
  return folder;
}

/** Unpacks the tarball below a folder; returns where the program is. */
export async function untarred(folder: string): Promise<string> {
  const packages = await packaged();
  const [name = ""] = readdirSync(packages).filter((file) => file.endsWith(".tgz"));
  mkdirSync(folder, { recursive: true });
  await run("tar", ["-xzf", join(packages, name), "-C", folder]);
  return join(folder, "package");
}
