/** The fields of a dataset, from its first lines: a file is read once until it changes. */
import { closeSync, openSync, readSync, statSync } from "node:fs";
import { datasetFiles } from "../../lib/datasets/files.ts";
import { datasetPlace } from "../../lib/datasets/name.ts";
import { withPrompt } from "../../lib/datasets/responses.ts";
import { isTable, tableSample } from "../../lib/datasets/tables.ts";
import type { Json, JsonObject } from "../../../shared/lib/json.ts";

export interface Field {
  /** `answer`, or `meta.level` for one inside another. */
  readonly path: string;
  /** What the first line that has it says, cut short. */
  readonly example: string;
}

export interface FileRows {
  readonly file: string;
  readonly fields: readonly Field[];
  /** The different values of a field, in the lines that were read. */
  values(field: string): readonly string[];
}

const bytes = 256 * 1024;
const lines = 200;
const known = new Map<string, { readonly stamp: string; readonly rows: FileRows }>();

/** undefined where there is no such file. */
export function rowsOf(path: string, folder: string): FileRows | undefined {
  const place = datasetPlace(folder, path);
  try {
    const [file = place] = datasetFiles(place);
    const { mtimeMs, size } = statSync(file);
    const stamp = `${mtimeMs} ${size}`;
    const found = known.get(file);
    if (found?.stamp === stamp) return found.rows;
    const rows = read(file, size);
    known.set(file, { stamp, rows });
    return rows;
  } catch {
    // No file, or none that may be read: another message says so.
    return undefined;
  }
}

function read(file: string, size: number): FileRows {
  const objects = (isTable(file) ? tableSample(file, lines) : firstOf(file, size)).map(withPrompt);
  const fields = new Map<string, string>();
  for (const object of objects) collect(object, "", fields, 0);
  return {
    file,
    fields: [...fields].map(([path, example]) => ({ path, example })),
    values: (field) => [...new Set(objects.flatMap((object) => valueText(valueAt(object, field)) ?? []))],
  };
}

function firstOf(file: string, size: number): JsonObject[] {
  const buffer = Buffer.alloc(Math.min(bytes, size));
  const handle = openSync(file, "r");
  try {
    readSync(handle, buffer, 0, buffer.length, 0);
  } finally {
    closeSync(handle);
  }
  const whole = buffer.toString("utf8").split("\n");
  if (size > bytes) whole.pop();
  return whole.slice(0, lines).flatMap(objectOf);
}

type DatasetRow = Readonly<Record<string, unknown>>;
const isRow = (value: unknown): value is DatasetRow =>
  typeof value === "object" && value !== null && !Array.isArray(value);
const isObject = (value: Json): value is JsonObject => isRow(value);

function objectOf(line: string): JsonObject[] {
  try {
    const value: Json = JSON.parse(line.replace(/^\uFEFF/, ""));
    return isObject(value) ? [value] : [];
  } catch {
    // A line that is no JSON has no fields; the run will name it.
    return [];
  }
}

function collect(row: DatasetRow, prefix: string, into: Map<string, string>, depth: number): void {
  for (const [key, value] of Object.entries(row)) {
    if (!/^[\w-]+$/.test(key) || into.size > 200) continue;
    const path = `${prefix}${key}`;
    if (!into.has(path)) into.set(path, (valueText(value) ?? "").slice(0, 60));
    if (isRow(value) && depth < 3) collect(value, `${path}.`, into, depth + 1);
  }
}

const valueAt = (row: DatasetRow, path: string): unknown =>
  path.split(".").reduce<unknown>((at, key) => (isRow(at) ? at[key] : undefined), row);

const valueText = (value: unknown): string | undefined =>
  value === undefined ? undefined : typeof value === "string" ? value : JSON.stringify(value);
