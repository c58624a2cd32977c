/**
 * Whether what was found, and not named, may be used: a store, a site or a virtual environment in a folder above. Where another
 * user can write, that user can plant one. As git does, it is refused, and folders that are shared on purpose are named.
 */
import { copiedWord } from "../lib/copiedWord.ts";
import { lstatSync, statSync, type Stats } from "node:fs";
import { delimiter } from "node:path";
import { UserError } from "../lib/errors.ts";
import { liesIn } from "../lib/liesIn.ts";

/** Folders whose owners are trusted, with all that is in them; `*`: all. */
const variable = "GRADUS_SAFE_FOLDERS";

const isSafe = (path: string): boolean =>
  (process.env[variable] ?? "")
    .split(delimiter)
    .some((folder) => folder === "*" || (folder !== "" && liesIn(path, folder)));

/** Root can write everywhere. Of `sudo`, the files of whoever called it are used. */
function isOwn({ uid }: Stats): boolean {
  const user = process.getuid?.();
  return uid === user || uid === 0 || (user === 0 && String(uid) === process.env["SUDO_UID"]);
}

/**
 * Modes are not asked: a drive that knows none shows every file as everybody's (WSL's /mnt/c, a mounted volume).
 * @param what e.g. "store" @throws UserError where another user owns it
 */
export function refuseOthers(path: string, what: string): void {
  const found = statSync(path, { throwIfNoEntry: false });
  if (process.platform === "win32" || found === undefined || isSafe(path)) return;
  const foreign = [found, lstatSync(path)].find((one) => !isOwn(one));
  if (foreign === undefined) return;
  const [user, word] = [process.getuid?.(), copiedWord(path)];
  throw new UserError(
    `The ${what} ${path} belongs to another user (uid ${foreign.uid}; yours is ${user}), so what is in it may be planted`,
    {
      file: path,
      code: "foreign-owner",
      action: `Make it yours (chown -R ${user} ${word}), or name it, if you trust that user: ${variable}=${word}`,
    },
  );
}
