/** Loads whatever a command is given: a config, or a configuration of verl, TRL or OpenRLHF, converted in memory. */
import { basename, dirname, join, resolve } from "node:path";
import { UserError } from "../../../../shared/lib/errors.ts";
import type { Diagnostic } from "../../../config/check/diagnostic.ts";
import { isConfigName } from "../../../config/configKind.ts";
import { limits, readText, statsOf } from "../../../lib/inputFile.ts";
import { isNotebook, longestSource, pythonText } from "../../../lib/notebook/notebook.ts";
import { loadConfig, type LoadedConfig, type LoadOptions, type ValueOrigin } from "../../../rules/load.ts";
import type { Converted } from "../../trainers/convert.ts";
import { checkFrameworkDocument, readFrameworkDocument } from "../../check/index.ts";
import { orFrom } from "../../trainers/read.ts";
import { configsIn } from "./configNear.ts";
import { onlyNamed } from "./namedBy.ts";
import { asConfig } from "./convertFile.ts";
import { inCell } from "../../text/notebook/diagnostics.ts";
import { placeOf } from "./places.ts";

export interface LoadedFile extends LoadedConfig {
  /** What it was converted to; undefined for a config of Gradus. */
  readonly converted?: Converted;
}

/** Options that count for a converted file alone. */
interface ForConverted extends Pick<LoadOptions, "needs"> {
  /** A file with the rows that the script has built. */
  readonly rows?: string;
}

/**
 * As `loadConfig`. What is wrong with a converted config is said at the line of the file's own setting.
 * @throws UserError as `loadConfig`, and as `convert` where the file has no counterpart
 */
export function loadFile(
  file: string,
  options: LoadOptions = {},
  { rows, ...forConverted }: ForConverted = {},
): LoadedFile {
  const path = resolve(file);
  const text = options.text ?? textOf(path);
  if (text === undefined) refuseFolder(file);
  const made =
    text === undefined ? undefined : converted(file, () => asConfig(path, text, options.set, rows));
  if (made === undefined) return loadConfig(file, options);
  const loaded = loadConfig(path, { ...options, ...forConverted, text: made.config });
  const source = { path, text: isNotebook(path) ? pythonText(path, text ?? "") : "" };
  const refused = text === undefined ? [] : refusals(path, text);
  const config = loaded.config && rows !== undefined ? { ...loaded.config, builtRows: rows } : loaded.config;
  return {
    ...loaded,
    config: refused.length === 0 ? config : undefined,
    converted: made,
    diagnostics: [...refused, ...loaded.diagnostics.map((diagnostic) => placed(diagnostic, source, made))],
    origins: Object.fromEntries(
      Object.entries(loaded.origins).map(([key, origin]) => [key, originOf(key, origin, source, made)]),
    ),
  };
}

/** Without what these find, another config than the script's would be made: a reward would be missing. */
const stops: ReadonlySet<string> = new Set(["foreign-syntax", "trl-reward-definition"]);

/** Errors of a Python script or notebook, which `validate` gives as well. */
function refusals(path: string, text: string): Diagnostic[] {
  const document = /\.(?:py|ipynb)$/.test(path) ? readFrameworkDocument(path, text) : undefined;
  return document === undefined
    ? []
    : checkFrameworkDocument(document).filter(
        ({ rule, severity }) => severity === "error" && stops.has(rule),
      );
}

/** What cannot be read `loadConfig` says in its own words. */
function textOf(path: string): string | undefined {
  if (isConfigName(path)) return undefined;
  try {
    return readText(path, /\.(ya?ml|json)$/.test(path) ? limits.config : longestSource(path));
  } catch {
    return undefined;
  }
}

/** @throws UserError that names the configs in it */
function refuseFolder(file: string): void {
  if (statsOf(file)?.isDirectory() !== true || isConfigName(file)) return;
  const names = configsIn(file).map((name) => join(file, name));
  if (names.length === 0) return;
  throw new UserError("the config cannot be read: it is a folder", {
    file: resolve(file),
    code: "missing-file",
    action: `Name ${names.length === 1 ? "the config" : "one of the configs"} in it: ${names.slice(0, 5).join(", ")}.`,
  });
}

/** A script that is no configuration is often one that a configuration names: that one is named. */
function converted(file: string, make: () => Converted | undefined): Converted | undefined {
  try {
    return make();
  } catch (error) {
    if (!(error instanceof UserError) || error.detail.action?.endsWith(orFrom) !== true) throw error;
    const named = onlyNamed(file);
    if (named !== undefined) throw named;
    const names = configsIn(dirname(file)).map((name) => join(dirname(file), name));
    const action =
      names.length === 0
        ? error.detail.action.replace(orFrom, ".")
        : `Name the config next to it: ${names.slice(0, 5).join(", ")}.`;
    throw new UserError(error.message, { ...error.detail, action });
  }
}

/** The file that was converted. */
interface Source {
  readonly path: string;
  /** Of a notebook: the module of its cells. */
  readonly text: string;
}

/** The converted text is seen by nobody: its lines and its fixes mean nothing. */
function placed(
  diagnostic: Diagnostic,
  { path, text }: Source,
  { framework, places, head }: Converted,
): Diagnostic {
  const range = placeOf(framework, places, diagnostic.key) ?? head;
  const { related, ...rest } = diagnostic;
  const others = related?.filter(({ file }) => file !== path) ?? [];
  return {
    ...rest,
    ...inCell(text, range),
    message: `${diagnostic.message} (converted from ${basename(path)})`,
    fixes: [],
    ...(others.length === 0 ? {} : { related: others }),
  };
}

function originOf(key: string, origin: ValueOrigin, { path, text }: Source, made: Converted): ValueOrigin {
  if (origin.file !== path || origin.line === 0) return origin;
  const place = placeOf(made.framework, made.places, key);
  const cell = place === undefined ? undefined : inCell(text, place).cell;
  return place === undefined || cell !== undefined
    ? {
        file: `converted from ${basename(path)}${cell === undefined ? "" : ` cell ${cell}`}`,
        line: 0,
        via: [],
      }
    : { file: path, line: place.start.line + 1, via: [] };
}
