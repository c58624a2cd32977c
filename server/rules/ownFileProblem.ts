/** What is wrong with a file of the user's that a config names: found by parsing, nothing is executed. */
import { existsSync, readdirSync } from "node:fs";
import { basename, dirname } from "node:path";
import { shownPath } from "../lib/texts/shownPath.ts";
import { exportsOf } from "../config/check/exports.ts";
import { replace } from "../config/check/report.ts";
import type { Choice, SlotName } from "../core/declaration.ts";
import { listed, nearest } from "../lib/suggest.ts";
import { unfitFile } from "./nearFile.ts";
import type { reportAt } from "./rule.ts";
import { relativePath } from "../../shared/lib/slashes.ts";

interface OwnFileProblem {
  readonly message: string;
  /** What would be right in its place. */
  readonly better?: string;
}

/** The diagnostic, with the fix where there is one. */
export const problemReport =
  ({ message, better }: OwnFileProblem): Parameters<typeof reportAt>[4] =>
  ({ range }) => {
    const quoted = range.start.line === range.end.line ? better : undefined;
    const fixes = quoted === undefined ? [] : [replace(range, quoted, `Change to \`${quoted}\``)];
    return { message, fixes };
  };

/** @param what names its use in the config, e.g. "the reward `brief`" */
export function ownFileProblem(
  { params, declaration }: Choice<SlotName>,
  what: string,
  config: string,
): OwnFileProblem | undefined {
  const path = String(params["file"]);
  const name = shownPath(dirname(config), path);
  const inConfig = (own: string): string => {
    const short = relativePath(dirname(config), own);
    return short.startsWith("..") ? short : `./${short}`;
  };
  const unfit = unfitFile(path);
  if (unfit !== undefined) return { message: `\`${name}\` for ${what} cannot be read: ${unfit}.` };
  if (!existsSync(path)) {
    const siblings = existsSync(dirname(path)) ? readdirSync(dirname(path)) : [];
    const meant = nearest(basename(path), siblings);
    const better = meant === undefined ? undefined : inConfig(`${dirname(path)}/${meant}`);
    const hint = better === undefined ? "" : ` Did you mean \`${better}\`?`;
    return {
      message: `There is no file \`${name}\` for ${what}.${hint}`,
      ...(better === undefined ? {} : { better }),
    };
  }
  const found = exportsOf(path);
  const wanted = String(params["export"]);
  if (found.kind === "broken") return { message: `\`${name}\` does not parse: ${found.message}` };
  const python = declaration.name === "python";
  // Of a class's method, the class is what the file has.
  const [root = wanted] = python ? wanted.split(".") : [];
  if (found.names.includes(root) || found.open) return undefined;
  const meant = nearest(wanted, found.names) ?? (found.names.length === 1 ? found.names[0] : undefined);
  const better = meant === undefined ? {} : { better: `${inConfig(path)}:${meant}` };
  const noun = !python ? "export" : declaration.slot === "environment" ? "class" : "function";
  return { message: `\`${name}\` has no ${noun} \`${wanted}\`. It has ${listed(found.names)}.`, ...better };
}
