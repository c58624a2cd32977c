/**
 * Arrow IPC files as rows of JSON: what `save_to_disk` of Hugging Face's `datasets` writes, and its cache holds. Streams
 * and files both.
 */
import { closeSync, readSync, statSync } from "node:fs";
import { tableFromIPC, Type, type DataType } from "@uwdata/flechette";
import { messageOf, UserError } from "../../../shared/lib/errors.ts";
import type { Json, JsonObject } from "../../../shared/lib/json.ts";
import { openRegular, readRegular } from "../inputFile.ts";
import { unreadDataset } from "../unreadDataset.ts";
import { jsonOf } from "./values.ts";

/** Bytes of one file: a save has a file per 500 MB. */
const largest = 2 ** 31 - 1;

const options = { useBigInt: true, useDate: true, useMap: true };

/** All rows. @throws UserError where the file can't be read, is no Arrow file, or is damaged */
export function* arrowRows(file: string): Generator<JsonObject> {
  const columns = decoded(file, () => {
    headOf(file);
    const { names, children } = tableFromIPC(readRegular(file, largest), options);
    return names.map((name, i) => ({ name, column: children[i]! }));
  });
  const count = columns[0]?.column.length ?? 0;
  for (let row = 0; row < count; row++)
    yield Object.fromEntries(columns.map(({ name, column }) => [name, jsonOf(column.at(row))]));
}

/** A row of the file's form, with `""` for every value, by the head of the file alone. Throws as `arrowRows`. */
export const arrowForm = (file: string): JsonObject =>
  decoded(file, () => {
    const { schema } = tableFromIPC(headOf(file), options);
    return Object.fromEntries(schema.fields.map(({ name, type }) => [name, formOf(type)]));
  });

function decoded<T>(file: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (error instanceof Error && "code" in error) throw unreadDataset(file, error);
    throw new UserError(`the dataset cannot be read as an Arrow file: ${messageOf(error)}`, {
      file,
      code: "dataset-arrow",
      action: "Write it again with `save_to_disk`, or export it with `to_parquet`.",
    });
  }
}

const magic = "ARROW1";
/** Of a message: a mark and the length of its description. */
const prefix = 8;

/** The first message, which is the schema, as a stream of its own. */
function headOf(file: string): Uint8Array {
  const handle = openRegular(file);
  try {
    const bytes = (start: number, length: number): Buffer => {
      const buffer = Buffer.alloc(length);
      if (readSync(handle, buffer, 0, length, start) < length)
        throw new Error("it ends before its data does");
      return buffer;
    };
    // A file, other than a stream, has a mark before it, padded to 8 bytes.
    const start = bytes(0, prefix).toString("latin1", 0, magic.length) === magic ? prefix : 0;
    const head = bytes(start, prefix);
    const length = head.readInt32LE(4);
    if (head.readInt32LE(0) !== -1 || length <= 0 || length > statSync(file).size)
      throw new Error("it does not begin like one");
    return bytes(start, prefix + length);
  } finally {
    closeSync(handle);
  }
}

/** Items that a list's form has: a path may name one. */
const items = 16;

function formOf(type: DataType): Json {
  switch (type.typeId) {
    case Type.Struct:
      return Object.fromEntries(type.children.map((child) => [child.name, formOf(child.type)]));
    case Type.List:
    case Type.LargeList:
    case Type.FixedSizeList:
      return Array<Json>(items).fill(type.children[0] === undefined ? "" : formOf(type.children[0].type));
    case Type.Map:
      return {};
    default:
      return "";
  }
}
