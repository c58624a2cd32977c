/** A path as messages name it. */
import { homedir } from "node:os";
import { dirname, isAbsolute, resolve } from "node:path";
import { liesIn } from "../../../shared/lib/liesIn.ts";
import { relativePath } from "../../../shared/lib/slashes.ts";

/**
 * From a folder, where both are of one project: `data/a.jsonl`, `../data/a.jsonl`. What lies elsewhere is named from the home
 * folder or the root, and what begins with a shell's variable as it is written.
 */
export function shownPath(folder: string, path: string): string {
  if (path.startsWith("$")) return path;
  const [place, home] = [resolve(folder, path), homedir()];
  const short = relativePath(folder, place);
  const ups = short.split("/").filter((part) => part === "..").length;
  const shared = resolve(folder, "../".repeat(ups));
  const isNear = ups === 0 || (shared !== dirname(shared) && !liesIn(home, shared));
  if (isNear && !isAbsolute(short)) return short;
  return home !== dirname(home) && liesIn(place, home) ? `~/${relativePath(home, place)}` : place;
}

/** What a message says of a file that is not there: the beginning of its sentence. */
export function noFile(folder: string, path: string): string {
  const shown = shownPath(folder, path);
  const variable = /^\$(?:\{(\w+)|(\w+))/.exec(shown);
  const why =
    variable !== null
      ? `: nothing here sets \`$${variable[1] ?? variable[2] ?? ""}\``
      : isAbsolute(shown) || shown.startsWith("~")
        ? ""
        : ": a path is relative to the file that contains it";
  return `There is no file \`${shown}\`${why}`;
}
