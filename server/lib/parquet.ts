/**
 * Parquet files as rows of JSON: what verl's data, TRL's completions and most shared data sets are kept in. Read
 * synchronously, a row group at a time, so that a task source opens one as it opens a JSONL file.
 */
import { closeSync, fstatSync, readSync } from "node:fs";
import {
  parquetMetadata,
  parquetSchema,
  type DecodedArray,
  type FileMetaData,
  type SchemaTree,
} from "hyparquet";
import { compressors } from "hyparquet-compressors";
import { assembleNested } from "hyparquet/src/assemble.js";
import { readColumn } from "hyparquet/src/column.js";
import { DEFAULT_PARSERS } from "hyparquet/src/convert.js";
import { getTreePath, isListLike, isMapLike } from "hyparquet/src/schema.js";
import { flatten } from "hyparquet/src/utils.js";
import { messageOf, UserError } from "../../shared/lib/errors.ts";
import type { Json, JsonObject } from "../../shared/lib/json.ts";
import { jsonOf } from "./datasets/values.ts";
import { openRegular } from "./inputFile.ts";
import { unreadDataset } from "./unreadDataset.ts";

export const isParquet = (file: string): boolean => /\.(parquet|pq)$/i.test(file);

interface ParquetShape {
  readonly rows: number;
  /** Names at the top, in the file's order. */
  readonly columns: readonly string[];
  /** A row of the file's form, with `""` for every value. Lists have a few items, whatever the rows have. */
  readonly form: JsonObject;
}

/** What a file holds, by its footer alone. Throws as `parquetRows` does. */
export const parquetShape = (file: string): ParquetShape =>
  opened(file, ({ metadata, columns }) => ({
    rows: Number(metadata.num_rows),
    columns: columns.map(({ element }) => element.name),
    form: formOfRow(columns),
  }));

/**
 * All rows. Whole numbers beyond 2^53 and decimals are as near as a number comes, times are ISO 8601, bytes that are
 * no UTF-8 text are null.
 * @throws UserError where the file can't be read, is not a Parquet file, was truncated or is damaged
 */
export const parquetRows = (file: string): JsonObject[] =>
  opened(file, (parquet) => {
    const rows: JsonObject[] = [];
    for (const group of parquet.metadata.row_groups)
      for (const row of rowsOf(parquet, group, Number(group.num_rows))) rows.push(row);
    return rows;
  });

/** Bytes of a row group that a glance may cost. */
const glance = 1 << 20;

/** At most this many rows to look at, for an editor; the form alone where even the first row group is large. */
export const parquetSample = (file: string, most: number): readonly JsonObject[] =>
  opened(file, (parquet) => {
    const [group] = parquet.metadata.row_groups;
    if (group === undefined) return [];
    return Number(group.total_byte_size) <= glance
      ? rowsOf(parquet, group, Math.min(most, Number(group.num_rows)))
      : [formOfRow(parquet.columns)];
  });

/** One column's values in the first row group, at most this many; none where there is no such column. */
export const parquetColumn = (file: string, name: string, most: number): readonly Json[] =>
  opened(file, (parquet) => {
    const [group] = parquet.metadata.row_groups;
    const column = parquet.columns.find(({ element }) => element.name === name);
    if (group === undefined || column === undefined) return [];
    const count = Math.min(most, Number(group.num_rows));
    return Array.from(valuesOf(parquet, group, column, count).slice(0, count), jsonOf);
  });

type RowGroup = FileMetaData["row_groups"][number];
type ColumnMetaData = NonNullable<RowGroup["columns"][number]["meta_data"]>;

interface OpenParquet {
  readonly metadata: FileMetaData;
  readonly tree: SchemaTree;
  readonly columns: readonly SchemaTree[];
  /** From one offset of the file to another. */
  bytes(start: number, end: number): Uint8Array<ArrayBuffer>;
}

/** `PAR1`, at either end. */
const magic = 0x31524150;
/** Of the footer's length and the magic after it. */
const trailer = 8;

function opened<T>(file: string, use: (parquet: OpenParquet) => T): T {
  const handle = handleOf(file);
  try {
    const bytes = (start: number, end: number): Uint8Array<ArrayBuffer> => {
      const buffer = new Uint8Array(end - start);
      if (readSync(handle, buffer, 0, buffer.length, start) < buffer.length)
        throw new Error("it ends before its data does");
      return buffer;
    };
    const metadata = parquetMetadata(footerOf(fstatSync(handle).size, bytes));
    const tree = parquetSchema(metadata);
    return use({ metadata, tree, columns: tree.children, bytes });
  } catch (error) {
    throw error instanceof UserError ? error : refused(file, messageOf(error));
  } finally {
    closeSync(handle);
  }
}

function handleOf(file: string): number {
  try {
    return openRegular(file);
  } catch (error) {
    throw unreadDataset(file, error);
  }
}

const refused = (file: string, reason: string): UserError =>
  new UserError(`the dataset cannot be read as a Parquet file: ${reason}`, {
    file,
    code: "dataset-parquet",
    action: "Write the file again, e.g. with pandas' to_parquet, or export it as JSONL.",
  });

/** The footer with its trailer, which is all that the metadata are read from. */
function footerOf(size: number, bytes: OpenParquet["bytes"]): Uint8Array<ArrayBuffer> {
  const mark = (start: number): number => new DataView(bytes(start, start + 4).buffer).getUint32(0, true);
  if (size < 4 + trailer || mark(0) !== magic) throw new Error("it does not begin like one");
  if (mark(size - 4) !== magic) throw new Error("its end is missing, so it was not written to the end");
  const length = new DataView(bytes(size - trailer, size).buffer).getUint32(0, true);
  if (length > size - trailer - 4) throw new Error("its footer is damaged");
  return bytes(size - trailer - length, size);
}

function rowsOf(parquet: OpenParquet, group: RowGroup, count: number): JsonObject[] {
  const columns = parquet.columns.map((column) => ({
    name: column.element.name,
    values: valuesOf(parquet, group, column, count),
  }));
  return Array.from({ length: count }, (_, row) =>
    Object.fromEntries(columns.map(({ name, values }) => [name, jsonOf(values[row])])),
  );
}

/** A column's values: those of its leaves, put together. */
function valuesOf(parquet: OpenParquet, group: RowGroup, column: SchemaTree, count: number): DecodedArray {
  const { name } = column.element;
  const leaves = group.columns
    .flatMap(({ meta_data: leaf }) => leaf ?? [])
    .filter(({ path_in_schema: [top] }) => top === name)
    .map((leaf) => [leaf.path_in_schema.join("."), leafValues(parquet, leaf, count)] as const);
  const data = new Map(leaves);
  if (column.children.length > 0) assembleNested(data, column, DEFAULT_PARSERS);
  const values = data.get(name);
  if (values === undefined || values.length < count)
    throw new Error(`column \`${name}\` has fewer values than rows`);
  return values;
}

function leafValues({ tree, bytes }: OpenParquet, leaf: ColumnMetaData, count: number): DecodedArray {
  const schemaPath = getTreePath(tree, leaf.path_in_schema);
  const start = Number(leaf.dictionary_page_offset ?? leaf.data_page_offset);
  const view = new DataView(bytes(start, start + Number(leaf.total_compressed_size)).buffer);
  const { data } = readColumn(
    { view, offset: 0 },
    { groupStart: 0, groupRows: count, selectStart: 0, selectEnd: count },
    {
      ...leaf,
      pathInSchema: leaf.path_in_schema,
      element: schemaPath.at(-1)!.element,
      schemaPath,
      parsers: DEFAULT_PARSERS,
      compressors,
      utf8: false,
    },
  );
  return flatten(data).slice(0, count);
}

const formOfRow = (columns: readonly SchemaTree[]): JsonObject =>
  Object.fromEntries(columns.map((column) => [column.element.name, formOf(column)]));

/** Items that a list's form has: a path may name one. */
const items = 16;

function formOf(column: SchemaTree): Json {
  if (isMapLike(column)) return {};
  if (!isListLike(column)) return column.children.length === 0 ? "" : formOfRow(column.children);
  const [list] = column.children;
  const [only, ...others] = list?.children ?? [];
  const item = only === undefined || others.length > 0 ? list : only;
  return Array<Json>(items).fill(item === undefined ? "" : formOf(item));
}
