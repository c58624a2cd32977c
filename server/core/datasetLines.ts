/** The first lines of a dataset, read without the rest of the file and again only when it has changed. */
import { closeSync, readSync, statSync } from "node:fs";
import { UserError } from "../../shared/lib/errors.ts";
import { parseShallow } from "../../shared/lib/json.ts";
import { datasetFiles } from "../lib/datasets/files.ts";
import { withPrompt } from "../lib/datasets/responses.ts";
import { isTable, tableForm } from "../lib/datasets/tables.ts";
import { openRegular } from "../lib/inputFile.ts";
import { perObject } from "../lib/perObject.ts";
import type { Choice } from "./declaration.ts";
import { isObject } from "./templates.ts";

export interface DatasetLine {
  readonly file: string;
  /** From 0. */
  readonly line: number;
  readonly length: number;
  /** undefined: it is no JSON object. */
  readonly row: Readonly<Record<string, unknown>> | undefined;
}

const bytes = 64 * 1024;
const most = 100;
const cache = new Map<string, { readonly stamp: string; readonly lines: readonly DatasetLine[] }>();

/**
 * Of the first file of a dataset; undefined where there is none, or it cannot be read: that is reported elsewhere.
 * @param window bytes that are read of it
 */
export function datasetLines(dataset: string, window = bytes): readonly DatasetLine[] | undefined {
  try {
    const [file = dataset] = datasetFiles(dataset);
    const { mtimeMs, size } = statSync(file);
    const stamp = `${mtimeMs} ${size} ${window}`;
    const known = cache.get(file);
    if (known?.stamp === stamp) return known.lines;
    const lines = isTable(file) ? formOf(file) : parse(file, beginning(file, window), size > window);
    cache.set(file, { stamp, lines });
    return lines;
  } catch {
    return undefined;
  }
}

/** Whether there is no line at all in data that are there, as far as reading their beginning tells. */
export function hasNoLines(dataset: string): boolean {
  if (datasetLines(dataset)?.length !== 0) return false;
  const [first, ...others] = datasetFiles(dataset);
  return first !== undefined && others.length === 0 && statSync(first).size <= bytes;
}

/** The data of a task that is a dataset, as `datasetFiles` takes them. */
export const datasetOf = ({ declaration, params: { dataset } }: Choice<"task">): string | undefined =>
  declaration.name === "dataset" && typeof dataset === "string" ? dataset : undefined;

export const linesOfTask = perObject((source: Choice<"task">): readonly DatasetLine[] | undefined => {
  const file = datasetOf(source);
  return file === undefined ? undefined : datasetLines(file);
});

/** Of a Parquet or Arrow file one line, of the form that all of its rows have: no row is read. */
function formOf(file: string): DatasetLine[] {
  try {
    return [{ file, line: 0, length: 0, row: withPrompt(tableForm(file)) }];
  } catch (error) {
    if (error instanceof UserError) return [{ file, line: 0, length: 0, row: undefined }];
    throw error;
  }
}

function beginning(file: string, window: number): string {
  const handle = openRegular(file);
  try {
    const buffer = Buffer.alloc(window);
    return buffer.toString("utf8", 0, readSync(handle, buffer, 0, window, 0)).replace(/^\uFEFF/, "");
  } finally {
    closeSync(handle);
  }
}

/** `cut`: the last line goes on beyond what was read. */
function parse(file: string, text: string, cut: boolean): DatasetLine[] {
  const lines = text.split("\n");
  if (cut) lines.pop();
  return lines
    .map((line, index) => ({ text: line.trim(), line: index, length: line.length }))
    .filter(({ text }) => text !== "")
    .slice(0, most)
    .map(({ text, line, length }) => ({ file, line, length, row: rowOf(text) }));
}

function rowOf(text: string): DatasetLine["row"] {
  try {
    const value = parseShallow(text);
    return isObject(value) ? withPrompt(value) : undefined;
  } catch {
    return undefined;
  }
}

/** Whether a row has a field, `a.b` being b inside a, and `a.0` the first item of a list. */
export function hasField(row: Readonly<Record<string, unknown>>, path: string): boolean {
  let value: unknown = row;
  for (const key of path.split(".")) {
    if (typeof value !== "object" || value === null) return false;
    value = Object.entries(value).find(([name]) => name === key)?.[1];
  }
  return value !== undefined;
}

/** What is left where a path leads no further: the names of the innermost map that is there, as paths. */
export function siblingFields(row: Readonly<Record<string, unknown>>, path: string): string[] {
  const keys = path.split(".");
  let [at, depth]: [Readonly<Record<string, unknown>>, number] = [row, 0];
  for (const key of keys.slice(0, -1)) {
    const next = at[key];
    if (typeof next !== "object" || next === null || Array.isArray(next)) break;
    [at, depth] = [{ ...next }, depth + 1];
  }
  return Object.keys(at).map((name) => [...keys.slice(0, depth), name].join("."));
}
