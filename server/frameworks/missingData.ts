/** Data files of this machine that a configuration names and that are not there. */
import { existsSync, readdirSync } from "node:fs";
import { homedir } from "node:os";
import { basename, dirname, isAbsolute, join } from "node:path";
import type { Json } from "../../shared/json.ts";
import { nearest } from "../lib/suggest.ts";
import { changeTo } from "./fix.ts";
import type { FrameworkDiagnostic, FrameworkModel } from "./rule.ts";
import { placeOfFile } from "./verl/files.ts";

const isData = (path: string): boolean => /\.(?:parquet|jsonl?|csv|arrow)$/.test(path);

/** `hdfs://…`, `$DATA/…`, `*.parquet`: what only the machine of the run can tell. */
const isElsewhere = (path: string): boolean => /:\/\/|[$*?[\]{}]/.test(path);

/**
 * Where a missing file should lie; undefined where it is there, or nobody here can tell: a name of the Hub, a remote path,
 * a folder that this machine has not, a bare name, for which the command may be started anywhere.
 */
function missingIn(configuration: string, path: string, isMeant = isData): string | undefined {
  if (!isMeant(path) || isElsewhere(path) || !/[\\/]/.test(path)) return undefined;
  if (placeOfFile(configuration, path) !== undefined) return undefined;
  const expanded = path.replace(/^~(?=[\\/])/, homedir());
  if (isAbsolute(expanded)) return existsSync(dirname(expanded)) ? dirname(expanded) : undefined;
  const near = placeOfFile(configuration, dirname(expanded));
  if (near !== undefined) return near;
  return /^\.{1,2}[\\/]/.test(expanded) ? join(dirname(configuration), dirname(expanded)) : undefined;
}

const listOf = (value: Json | undefined): readonly Json[] => {
  if (typeof value === "string") return value.split(",").map((part) => part.trim());
  return Array.isArray(value) ? value : [];
};

/** Of those of some keys that the file itself writes; each is a path, or several. */
export const missingData = (
  model: FrameworkModel,
  keys: readonly string[],
  isMeant = isData,
): FrameworkDiagnostic[] =>
  keys.flatMap((key) => {
    const at = model.written(key);
    if (at === undefined) return [];
    const paths = listOf(model.value(key)).filter((path) => typeof path === "string");
    return paths.flatMap((path): FrameworkDiagnostic[] => {
      const folder = missingIn(model.document.file, path, isMeant);
      if (folder === undefined) return [];
      const name = existsSync(folder) ? nearest(basename(path), readdirSync(folder)) : undefined;
      const better = name === undefined ? undefined : `${path.slice(0, -basename(path).length)}${name}`;
      const fix = better === undefined || paths.length > 1 ? undefined : changeTo(at, better);
      return [
        {
          at,
          message: `There is no file \`${path}\` on this machine.${better === undefined ? "" : ` Did you mean \`${better}\`?`}`,
          fixes: fix === undefined ? [] : [fix],
        },
      ];
    });
  });

/** A Python file that rewards or agents are loaded from; where a script changes its folder nobody here can tell. */
export const missingPython = (model: FrameworkModel, key: string): FrameworkDiagnostic[] =>
  /^\s*(cd|pushd)\s/m.test(model.document.text)
    ? []
    : missingData(model, [key], (path) => path.endsWith(".py"));
