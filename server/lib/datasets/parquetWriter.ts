/**
 * Rows of JSON as a Parquet file that pyarrow, pandas and Hugging Face's `datasets` read: lists and maps are nested columns,
 * and what has no one form is JSON text. Rows are read twice, so that no more of them are held than a row group has.
 */
import { closeSync, openSync } from "node:fs";
import type { SchemaElement } from "hyparquet";
import { fileWriter, ParquetWriter } from "hyparquet-writer";
import { messageOf, UserError } from "../../../shared/lib/errors.ts";

type Form =
  | { readonly kind: "none" | "flag" | "whole" | "number" | "text" | "json" }
  /** `"NaN"`, `"Infinity"` or `"-Infinity"`: a number where the others are, else a text. */
  | { readonly kind: "limit" }
  | { readonly kind: "list"; readonly item: Form }
  | { readonly kind: "map"; readonly fields: ReadonlyMap<string, Form> };
type Fields = ReadonlyMap<string, Form>;

/** A map with more keys is no record: its keys are data. */
const mostFields = 256;
/** Rows of a group. */
const rowsOfGroup = 1000;

const isLimit = (text: string): boolean => /^(NaN|-?Infinity)$/.test(text);
const isMap = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

const none: Form = { kind: "none" };
const json: Form = { kind: "json" };

function formOf(value: unknown): Form {
  if (value === null || value === undefined) return none;
  if (typeof value === "boolean") return { kind: "flag" };
  if (typeof value === "number") return { kind: Number.isSafeInteger(value) ? "whole" : "number" };
  if (typeof value === "string") return { kind: isLimit(value) ? "limit" : "text" };
  if (Array.isArray(value))
    return { kind: "list", item: value.reduce<Form>((item, one) => joined(item, formOf(one)), none) };
  return isMap(value) ? { kind: "map", fields: fieldsOf(value) } : json;
}

const fieldsOf = (row: Readonly<Record<string, unknown>>): Fields =>
  new Map(Object.entries(row).map(([name, value]) => [name, formOf(value)]));

/** The form that holds the values of both. */
function joined(one: Form, other: Form): Form {
  if (one.kind === "none") return other;
  if (other.kind === "none") return one;
  if (one.kind === "list" && other.kind === "list")
    return { kind: "list", item: joined(one.item, other.item) };
  if (one.kind === "map" && other.kind === "map") return joinedMaps(one.fields, other.fields);
  if (one.kind === other.kind) return one;
  const kinds = new Set<Form["kind"]>([one.kind, other.kind]);
  const only = (...allowed: Form["kind"][]): boolean => [...kinds].every((kind) => allowed.includes(kind));
  if (only("whole", "number", "limit")) return { kind: "number" };
  return only("text", "limit") ? { kind: "text" } : json;
}

function joinedMaps(one: Fields, other: Fields): Form {
  const fields = joinedFields(one, other);
  return fields.size > mostFields ? json : { kind: "map", fields };
}

function joinedFields(one: Fields, other: Fields): Fields {
  const fields = new Map(one);
  for (const [name, form] of other) fields.set(name, joined(fields.get(name) ?? none, form));
  return fields;
}

/** An item of it is not missing for want of a place: Parquet has no map without keys. */
const isEmptyMap = (form: Form): boolean => form.kind === "map" && form.fields.size === 0;

/** Whole numbers of some columns are numbers like any: another file of the kind has fractions there. */
function widened(form: Form): Form {
  if (form.kind === "whole" || form.kind === "limit") return { kind: "number" };
  if (form.kind === "list") return { kind: "list", item: widened(form.item) };
  if (form.kind !== "map") return form;
  return { kind: "map", fields: new Map([...form.fields].map(([name, inner]) => [name, widened(inner)])) };
}

function elementsOf(name: string, form: Form): SchemaElement[] {
  const element = { name, repetition_type: "OPTIONAL" } as const;
  if (isEmptyMap(form)) return elementsOf(name, json);
  switch (form.kind) {
    case "flag":
      return [{ ...element, type: "BOOLEAN" }];
    case "whole":
      return [{ ...element, type: "INT64" }];
    case "number":
      return [{ ...element, type: "DOUBLE" }];
    case "list":
      return [
        { ...element, converted_type: "LIST", num_children: 1 },
        { name: "list", repetition_type: "REPEATED", num_children: 1 },
        ...elementsOf("element", form.item),
      ];
    case "map":
      return [
        { ...element, num_children: form.fields.size },
        ...[...form.fields].flatMap(([key, inner]) => elementsOf(key, inner)),
      ];
    default:
      return [{ ...element, type: "BYTE_ARRAY", converted_type: "UTF8" }];
  }
}

/** A value as the writer takes it. */
function valueOf(value: unknown, form: Form): unknown {
  if (value === null || value === undefined) return null;
  if (isEmptyMap(form)) return JSON.stringify(value);
  switch (form.kind) {
    case "json":
      return JSON.stringify(value);
    case "whole":
      return BigInt(Number(value));
    case "number":
      return Number(value);
    case "list":
      return Array.isArray(value) ? value.map((one) => valueOf(one, form.item)) : null;
    case "map":
      return isMap(value)
        ? Object.fromEntries([...form.fields].map(([key, inner]) => [key, valueOf(value[key], inner)]))
        : null;
    default:
      return value;
  }
}

/**
 * @param rows from the first, each time it is called
 * @param numbers columns whose numbers may have fractions, whatever these rows have
 * @throws UserError where there are no rows, or the file cannot be written
 */
export async function writeParquet(
  file: string,
  rows: () => AsyncIterable<object>,
  numbers: (column: string) => boolean = () => false,
): Promise<void> {
  let fields: Fields = new Map();
  let count = 0;
  for await (const row of rows()) {
    fields = joinedFields(fields, fieldsOf({ ...row }));
    count += 1;
  }
  if (fields.size === 0)
    throw new UserError("there are no rows to write: a Parquet file has the columns of its rows", {
      file,
      code: "write",
      action: "Export the run when it has recorded some.",
    });
  const columns = new Map([...fields].map(([name, form]) => [name, numbers(name) ? widened(form) : form]));
  const writer = opened(file, columns);
  let held: object[] = [];
  const flush = async (): Promise<void> => {
    if (held.length > 0)
      await writer.write({ columnData: columnsOf(columns, held), rowGroupSize: rowsOfGroup });
    held = [];
  };
  // Rows that have come meanwhile may have other columns.
  for await (const row of rows()) {
    if ((count -= 1) < 0) break;
    held.push(row);
    if (held.length === rowsOfGroup) await flush();
  }
  await flush();
  await writer.finish();
}

function columnsOf(columns: Fields, rows: readonly object[]): { name: string; data: unknown[] }[] {
  const records = rows.map((row): Readonly<Record<string, unknown>> => ({ ...row }));
  return [...columns].map(([name, form]) => ({ name, data: records.map((row) => valueOf(row[name], form)) }));
}

function opened(file: string, columns: Fields): ParquetWriter {
  try {
    closeSync(openSync(file, "w"));
  } catch (error) {
    throw new UserError(`the export cannot be written: ${messageOf(error)}`, {
      file,
      code: "write",
      cause: error,
      action: "Name a file in a folder that exists and that you may write to.",
    });
  }
  const schema: SchemaElement[] = [
    { name: "root", num_children: columns.size },
    ...[...columns].flatMap(([name, form]) => elementsOf(name, form)),
  ];
  return new ParquetWriter({ writer: fileWriter(file), schema, createdBy: "gradus" });
}
