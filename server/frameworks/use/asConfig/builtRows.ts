/** Loads what a reward is tried on: of a script that builds its rows, with these rows in the place of its files. */
import { resolve } from "node:path";
import { UserError } from "../../../../shared/lib/errors.ts";
import { isWithheld } from "../../../lib/own/withheld.ts";
import type { LoadOptions } from "../../../rules/load.ts";
import type { RowsBuilder } from "../../readers/trl/trlScript.ts";
import { scriptRows, type ScriptRows } from "../rows/scriptRows.ts";
import { loadFile, type LoadedFile } from "./load.ts";
import { whyUntried } from "./untried.ts";

export interface TriedFile {
  readonly loaded: LoadedFile;
  /** Why its reward cannot be tried. */
  readonly untried?: string | undefined;
  /** What of its rows is not as it would be. */
  readonly notes: readonly string[];
}

/**
 * Runs the statements of a script that make its rows.
 * @param options `text` is the file's as it is in an editor
 * @throws UserError as `loadFile`; the signal's end is one of the process that makes them
 */
export async function loadTried(
  file: string,
  options: LoadOptions,
  signal?: AbortSignal,
): Promise<TriedFile> {
  const loaded = loadFile(file, options);
  const { converted } = loaded;
  const untried = converted && whyUntried(converted);
  if (converted?.rowsBuilder === undefined || untried !== undefined) return { loaded, untried, notes: [] };
  const builder = converted.rowsBuilder;
  const unsaved = resolve(file) === builder.file ? options.text : undefined;
  const rows = await made(builder, unsaved, signal);
  if (rows.kind === "none") return { loaded, untried: whyUntried(converted, rows.why), notes: [] };
  return { loaded: loadFile(file, options, { rows: rows.file }), notes: rows.notes };
}

/** Where there is no Python, the reward cannot run either: it says so itself, and what it says names no rows. */
async function made(
  builder: RowsBuilder,
  unsaved: string | undefined,
  signal: AbortSignal | undefined,
): Promise<ScriptRows> {
  try {
    return await scriptRows(builder, unsaved, signal);
  } catch (error) {
    if (!(error instanceof UserError) || isWithheld()) throw error;
    return { kind: "none", why: error.message };
  }
}
