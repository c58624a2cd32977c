/** Which commit a run was started from. */
import { spawnSync } from "node:child_process";

const git = (folder: string, ...words: readonly string[]): string | null => {
  const { status, stdout } = spawnSync("git", ["-C", folder, ...words], {
    encoding: "utf8",
    timeout: 5_000,
    windowsHide: true,
  });
  return status === 0 ? stdout : null;
};

/** Commit and dirty flag of the work tree that holds a folder; null where there is no git or no commit. */
export function gitState(folder: string): { readonly commit: string; readonly dirty: boolean } | null {
  const commit = git(folder, "rev-parse", "HEAD")?.trim();
  const changes = git(folder, "status", "--porcelain", "--untracked-files=no");
  return commit === undefined || commit === "" || changes === null
    ? null
    : { commit, dirty: changes.trim() !== "" };
}
