/** The packages of this checkout as `npm run package` makes them, made once for the same sources. */
import { execFile } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
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
  // Python's packages of tests lie in out/packages, for as long as their versions stay.
  const above = join(process.cwd(), "out", "released");
  const folder = join(above, stamp.fingerprint(process.cwd(), sources).slice(0, 16));
  if (existsSync(folder)) return folder;
  mkdirSync(above, { recursive: true });
  for (const name of readdirSync(above).filter((one) => /^[0-9a-f]{16}$/.test(one)))
    rmSync(join(above, name), { recursive: true, force: true });
  const draft = mkdtempSync(`${folder}-`);
  await run(process.execPath, [join("scripts", "package.mjs"), "--out", join(draft, "gradus.vsix")]);
  return placed(draft, folder);
}

/** Another test file may have made the same packages meanwhile: either will do. */
function placed(draft: string, folder: string): string {
  try {
    renameSync(draft, folder);
  } catch (error) {
    if (!existsSync(folder)) throw error;
    rmSync(draft, { recursive: true, force: true });
  }
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
