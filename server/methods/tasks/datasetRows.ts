/** The rows of a dataset's file, and what templates take of them. */
import { messageOf, UserError } from "../../../shared/lib/errors.ts";
import { parseShallow, type Json, type JsonObject } from "../../../shared/lib/json.ts";
import { siblingFields } from "../../core/datasetLines.ts";
import { datasetFiles } from "../../lib/datasets/files.ts";
import { withPrompt } from "../../lib/datasets/responses.ts";
import { isTable, tableRows } from "../../lib/datasets/tables.ts";
import { nearest } from "../../lib/suggest.ts";
import { textLines } from "../../lib/textLines.ts";
import { unreadDataset } from "../../lib/unreadDataset.ts";

export const isObject = (value: unknown): value is JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** A row of the file, and how its errors name it. */
export interface DatasetRow {
  readonly value: JsonObject;
  /** `the line`, which `place` points to; `row 3` of a file without lines. */
  readonly name: string;
  readonly place: { readonly file: string; readonly line?: number; readonly character?: number };
}

const textOf = (value: Json): string =>
  typeof value === "string" ? value : (conversation(value) ?? JSON.stringify(value));

/** The texts of `[{ role, content }, …]`, as TRL's and verl's data hold prompts: the model's chat template makes a turn of them. */
function conversation(value: Json): string | undefined {
  if (!Array.isArray(value) || value.length === 0) return undefined;
  const contents = value.map((message: Json) =>
    isObject(message) && "role" in message ? message["content"] : undefined,
  );
  return contents.every((content) => typeof content === "string") ? contents.join("\n\n") : undefined;
}

/** What a path leads to: keys of maps, and places in lists from 0. */
const fieldOf = (row: JsonObject, path: string): Json | undefined =>
  path
    .split(".")
    .reduce<Json | undefined>(
      (at, key) => (Array.isArray(at) ? at[Number(key)] : isObject(at) ? at[key] : undefined),
      row,
    );

/** Fills `{field}` places; a field that the row lacks or leaves empty is an error that names the row. */
export function fillFrom(template: string, { value: row, name, place }: DatasetRow): string {
  return template.replace(/\{([\w.-]+)\}/g, (_, path: string) => {
    const value = fieldOf(row, path);
    if (value !== undefined && value !== null) return textOf(value);
    const names = siblingFields(row, path);
    const meant = nearest(path, names);
    const message =
      value === null
        ? `${name} has nothing in its field "${path}": it is null`
        : `${name} has no field "${path}"${meant === undefined ? "" : `, did you mean "${meant}"?`}; it has ${names.join(", ") || "none"}`;
    throw new UserError(message, {
      ...place,
      code: "dataset-field",
      action: `Change the template in the config, or add the field to every ${place.line === undefined ? "row" : "line"}.`,
    });
  });
}

function parse(text: string, file: string, line: number): JsonObject {
  let value: unknown;
  try {
    value = parseShallow(text);
  } catch (error) {
    throw new UserError(`not JSON: ${messageOf(error)}`, {
      file,
      line,
      character: 0,
      code: "dataset-line",
      action: "Correct or remove the line: a dataset has one JSON object per line.",
    });
  }
  if (!isObject(value))
    throw new UserError("a line must be a JSON object", {
      file,
      line,
      character: 0,
      code: "dataset-line",
      action: 'Write {"prompt": …} on each line.',
    });
  return value;
}

function* read(file: string): Generator<string> {
  try {
    yield* textLines(file);
  } catch (error) {
    throw error instanceof UserError ? error : unreadDataset(file, error);
  }
}

/**
 * The rows of a dataset in their order, file by file: the lines of JSONL, the rows of Parquet and Arrow.
 * @throws UserError where a file is missing or can't be read, or a line is not a JSON object
 */
export function* rowsOf(dataset: string): Generator<DatasetRow> {
  for (const file of datasetFiles(dataset))
    for (const row of rowsOfFile(file)) yield { ...row, value: withPrompt(row.value) };
}

function* rowsOfFile(file: string): Generator<DatasetRow> {
  if (isTable(file)) {
    let row = 0;
    for (const value of tableRows(file)) yield { value, name: `row ${(row += 1)}`, place: { file } };
    return;
  }
  let line = 0;
  for (const text of read(file)) {
    if (text.trim() !== "")
      yield {
        value: parse(text.replace(/^\uFEFF/, ""), file, line),
        name: "the line",
        place: { file, line, character: 0 },
      };
    line += 1;
  }
}
