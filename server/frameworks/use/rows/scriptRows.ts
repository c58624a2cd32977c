/** The rows that a training script builds: its own statements make them, in a process of the person's Python. */
import { createHash } from "node:crypto";
import { statSync } from "node:fs";
import { basename, dirname, resolve } from "node:path";
import { plural } from "../../../../shared/lib/format.ts";
import { cellLine, isNotebook, pythonText, readPython } from "../../../lib/notebook/notebook.ts";
import { cut } from "../../../lib/own/cut.ts";
import { interpreterFor } from "../../../lib/own/interpreter.ts";
import { NoAnswer } from "../../../lib/own/ownProcess.ts";
import { pythonImports } from "../../../lib/python/imports.ts";
import { tokensOf } from "../../../lib/python/tokens.ts";
import type { RowsBuilder } from "../../readers/trl/trlScript.ts";
import { areKept, keep, keptPath } from "./keptRows.ts";
import { RowsProcess, type MadeRows } from "./rowsProcess.ts";
import { statsOf } from "../../../lib/inputFile.ts";

export type ScriptRows =
  /** `file`: JSONL. `notes`: what of them is not as it would be. */
  | { readonly kind: "rows"; readonly file: string; readonly notes: readonly string[] }
  /** Why they cannot be had. */
  | { readonly kind: "none"; readonly why: string };

/** Rows that are tried, and the seconds in which the script's statements make them. */
const [most, seconds] = [64, 30];

/**
 * @param unsaved the script's text as it is in an editor
 * @throws UserError where there is no Python, and where programs of the folder are withheld
 */
export async function scriptRows(
  builder: RowsBuilder,
  unsaved?: string,
  signal?: AbortSignal,
): Promise<ScriptRows> {
  const { file, trainer, position } = builder;
  const text = unsaved === undefined ? readPython(file) : pythonText(file, unsaved);
  const folder = dirname(file);
  const python = interpreterFor({ named: undefined, folder, file }).path;
  const hash = hashOf(builder, text, python);
  if (areKept(hash)) return { kind: "rows", file: keptPath(hash), notes: [] };
  const host = new RowsProcess(python, folder);
  try {
    const made = await host.make({ file, text, trainer, position, most }, seconds, signal);
    if (made.kind === "refused") return { kind: "none", why: said(made, file, text) };
    const notes = notesFor(made, file, text);
    const lines = made.rows.map((row) => `${JSON.stringify(row)}\n`).join("");
    // What was missing may be there the next time.
    return { kind: "rows", file: keep(hash, lines, notes.length === 0), notes };
  } catch (error) {
    if (!(error instanceof NoAnswer) || error.cause_ === "aborted") throw error;
    const why = error.cause_ === "timeout" ? `making them takes more than ${seconds} s` : error.message;
    return { kind: "none", why };
  } finally {
    await host.close();
  }
}

/** Of the script, the files of its folder that it imports, and the files that its strings name. */
function hashOf(builder: RowsBuilder, text: string, python: string): string {
  const { files } = pythonImports(builder.file, text);
  const sources = [text, ...files.map((one) => one.text)];
  const stamps = sources
    .flatMap((source) => tokensOf(source))
    .filter(({ kind, text: path }) => kind === "text" && path.length < 300 && /[./]/.test(path))
    .flatMap(({ text: path }) => {
      const stats = statsOf(resolve(dirname(builder.file), path));
      return stats === undefined ? [] : [[path, stats.size, stats.mtimeMs]];
    });
  const parts = [builder, sources, stamps, python, python && statSync(python).mtimeMs];
  return createHash("sha256").update(JSON.stringify(parts)).digest("hex").slice(0, 32);
}

interface Said {
  readonly what: string;
  readonly line: number | null;
}

/** "train.py:12 needs a model", "`org/data` is not on this disk (train.ipynb cell 4:2)". */
function said({ what, line }: Said, file: string, text: string): string {
  if (line === null) return cut(what);
  const place = placeIn(file, text, line);
  return /^[a-z]/.test(what) ? `${place} ${cut(what)}` : `${cut(what)} (${place})`;
}

/** @param line from 1 */
function placeIn(file: string, text: string, line: number): string {
  const place = isNotebook(file) ? cellLine(text, line - 1) : undefined;
  return place === undefined
    ? `${basename(file)}:${line}`
    : `${basename(file)} cell ${place.cell}:${place.line + 1}`;
}

function notesFor({ sample, left, rows }: Extract<MadeRows, { kind: "made" }>, file: string, text: string) {
  return [
    ...(sample === null
      ? []
      : [
          `The reward was tried on ${plural(rows.length, "sample row")} with the columns of ${sample}, which is not on this disk.`,
        ]),
    ...left.map((one) =>
      one.line === null
        ? `Of the rows that the script builds, ${one.what}.`
        : `Rows are tried that may not train: ${said(one, file, text)}, and was left out.`,
    ),
  ];
}
