/** Missing data files that a configuration names. */
import { existsSync, readdirSync } from "node:fs";
import { homedir } from "node:os";
import { basename, dirname, isAbsolute, join } from "node:path";
import type { Json } from "../../../shared/lib/json.ts";
import type { PythonProblem } from "../../lib/python/syntax.ts";
import { nearest } from "../../lib/suggest.ts";
import type { Setting } from "../text/document.ts";
import { changeTo } from "./fix.ts";
import type { RuleDiagnostic, RuleModel } from "./rule.ts";
import { placeOfFile } from "../readers/verlFiles.ts";

const isPython = (path: string): boolean => path.endsWith(".py");
const isData = (path: string): boolean => /\.(?:parquet|jsonl?|csv|arrow)$/.test(path);

/** `hdfs://…`, `$DATA/…`, `*.parquet`: only the machine of the run knows these. */
const isElsewhere = (path: string): boolean => /:\/\/|[$*?[\]{}]/.test(path);

/**
 * Where a missing file should be; undefined if it is there, or that cannot be known: a name of the Hub, a remote path,
 * a folder that this machine does not have, or a bare name of data, because the command may start in any folder.
 */
function missingIn(configuration: string, path: string, isMeant = isData): string | undefined {
  if (!isMeant(path) || isElsewhere(path)) return undefined;
  if (placeOfFile(configuration, path) !== undefined) return undefined;
  if (!/[\\/]/.test(path)) return isPython(path) ? dirname(configuration) : undefined;
  const expanded = path.replace(/^~(?=[\\/])/, homedir());
  if (isAbsolute(expanded)) return existsSync(dirname(expanded)) ? dirname(expanded) : undefined;
  const near = placeOfFile(configuration, dirname(expanded));
  if (near !== undefined) return near;
  return /^\.{1,2}[\\/]/.test(expanded) ? join(dirname(configuration), dirname(expanded)) : undefined;
}

/** What a command of the script writes to: `> reward.py`, `tee reward.py`, `-O data.parquet`, `cp x reward.py`. */
const written =
  /(?:>{1,2}|\btee(?:\s+-a)?|\s-[oO]|--output(?:-document)?[= ]|\b(?:cp|mv|ln)\s[^\n|;&]{0,400}?\s)\s*["']?([^\s"';|&]+)/g;

/** Whether the launch itself makes the file before it starts the trainer. */
function isMadeBy({ form, text }: RuleModel["document"], at: Setting, path: string): boolean {
  if (form !== "script") return false;
  const named = (word: string): boolean =>
    word === path ||
    word.replace(/^\.\//, "") === path.replace(/^\.\//, "") ||
    (word.includes("$") && at.text.includes(word));
  return [...text.matchAll(written)].some(([, word = ""]) => named(word.replaceAll(/["']/g, "")));
}

const listOf = (value: Json | undefined): readonly Json[] => {
  if (typeof value === "string") return value.split(",").map((part) => part.trim());
  return Array.isArray(value) ? value : [];
};

/** The given keys that the file itself sets; each is a path, or several. */
export const missingData = (model: RuleModel, keys: readonly string[], isMeant = isData): RuleDiagnostic[] =>
  keys.flatMap((key) => {
    const at = model.written(key);
    return at === undefined ? [] : missingFiles(model, at, model.value(key), isMeant);
  });

/** @param value paths that a setting names, or one */
export function missingFiles(
  { document }: RuleModel,
  at: Setting,
  value: Json | undefined,
  isMeant = isData,
): RuleDiagnostic[] {
  const paths = listOf(value).filter((path) => typeof path === "string");
  return paths.flatMap((path): RuleDiagnostic[] => {
    const folder = missingIn(document.file, path, isMeant);
    if (folder === undefined || isMadeBy(document, at, path)) return [];
    const name = existsSync(folder) ? nearest(basename(path), readdirSync(folder)) : undefined;
    const better = name === undefined ? undefined : `${path.slice(0, -basename(path).length)}${name}`;
    const message = `There is no file \`${path}\` on this machine.${better === undefined ? "" : ` Did you mean \`${better}\`?`}`;
    const fixes = paths.length > 1 ? [] : changeTo(at, better);
    // The machine of the run may have what a relative path names; of a name nearly right it will not.
    const elsewhere = isData(path) && better === undefined && !isAbsolute(path) && !path.startsWith("~");
    return [{ at, message, fixes, ...(elsewhere ? { severity: "warning" } : {}) }];
  });
}

/** A Python file with rewards or agents; not checked if the script changes its folder. */
export const missingPython = (model: RuleModel, key: string): RuleDiagnostic[] =>
  /^\s*(cd|pushd)\s/m.test(model.document.text) ? [] : missingData(model, [key], isPython);

/** A file with a syntax error. */
export const unparsed = (path: string, { line, message }: PythonProblem): string =>
  `\`${path}\` is not valid Python (line ${line + 1}: ${message})`;
