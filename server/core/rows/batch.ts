/** Parts of batches: some of their rows, their groups and mini-batches. */
import { origin, type Batch, type Ragged, type TokenColumns } from "../rollouts.ts";
import { rowsOfEpisodes } from "./parts.ts";
import { mapRowColumns, mapTokenColumns } from "./columns.ts";

export type TypedColumn = Float64Array | Int32Array | Uint8Array;

/** `rows + 1` offsets of rows with these lengths. */
export function offsetsOf(lengths: readonly number[]): Int32Array {
  const offsets = new Int32Array(lengths.length + 1);
  lengths.forEach((length, row) => (offsets[row + 1] = offsets[row]! + length));
  return offsets;
}

export function raggedOf(lists: readonly ArrayLike<number>[]): Ragged {
  const offsets = offsetsOf(lists.map((list) => list.length));
  const values = new Int32Array(offsets.at(-1)!);
  lists.forEach((list, row) => values.set(list, offsets[row]!));
  return { offsets, values };
}

/** Dense group numbers, in the order the groups first appear. */
export function numbered(keys: readonly string[]): { readonly group: Int32Array; readonly groups: number } {
  const known = new Map<string, number>();
  const group = Int32Array.from(keys, (key) => {
    const number = known.get(key) ?? known.size;
    known.set(key, number);
    return number;
  });
  return { group, groups: known.size };
}

/** Token ranges of the chosen rows, one after the other. */
function gathered<T extends TypedColumn>(
  values: T,
  offsets: Int32Array,
  rows: readonly number[],
  result: T,
): T {
  let at = 0;
  for (const row of rows) {
    result.set(values.subarray(offsets[row]!, offsets[row + 1]!), at);
    at += offsets[row + 1]! - offsets[row]!;
  }
  return result;
}

const sizeOf = (offsets: Int32Array, rows: readonly number[]): number =>
  rows.reduce((sum, row) => sum + offsets[row + 1]! - offsets[row]!, 0);

/** Whether the rows are all of the batch's, in their order. */
export const areAll = (rows: readonly number[], batch: Pick<Batch, "rows">): boolean =>
  rows.length === batch.rows && rows.every((row, i) => row === i);

/** A per-token column of a batch, for some of its rows; the column itself, for all in their order. */
export const selectTokens = (values: Float64Array, batch: Batch, rows: readonly number[]): Float64Array =>
  areAll(rows, batch)
    ? values
    : gathered(values, batch.offsets, rows, new Float64Array(sizeOf(batch.offsets, rows)));

/** A per-row column, for some of the rows. */
export const selectValues = (values: Float64Array, rows: readonly number[]): Float64Array =>
  Float64Array.from(rows, (row) => values[row]!);

const selectRagged = ({ offsets, values }: Ragged, rows: readonly number[]): Ragged => ({
  offsets: offsetsOf(rows.map((row) => offsets[row + 1]! - offsets[row]!)),
  values: gathered(values, offsets, rows, new Int32Array(sizeOf(offsets, rows))),
});

const selectContexts = (
  contexts: NonNullable<Batch["contexts"]>,
  rows: readonly number[],
): NonNullable<Batch["contexts"]> =>
  Object.fromEntries(Object.entries(contexts).map(([name, one]) => [name, selectRagged(one, rows)]));

const selectColumns = (columns: TokenColumns, batch: Batch, rows: readonly number[]): TokenColumns =>
  mapTokenColumns(
    columns,
    (values) => selectTokens(values, batch, rows),
    (values) => gathered(values, batch.offsets, rows, new Int32Array(sizeOf(batch.offsets, rows))),
  );

/** The batch of some rows, in the order given; its groups are renumbered. */
export function selectRows(batch: Batch, rows: readonly number[]): Batch {
  const { offsets } = batch;
  const size = sizeOf(offsets, rows);
  return {
    rows: rows.length,
    offsets: offsetsOf(rows.map((row) => offsets[row + 1]! - offsets[row]!)),
    tokens: gathered(batch.tokens, offsets, rows, new Int32Array(size)),
    origin: gathered(batch.origin, offsets, rows, new Uint8Array(size)),
    mask: gathered(batch.mask, offsets, rows, new Uint8Array(size)),
    columns: selectColumns(batch.columns, batch, rows),
    ...mapRowColumns(batch.rowColumns, (values) => selectValues(values, rows)),
    context: selectRagged(batch.context, rows),
    ...(batch.trainContext === undefined ? {} : { trainContext: selectRagged(batch.trainContext, rows) }),
    ...(batch.contexts === undefined ? {} : { contexts: selectContexts(batch.contexts, rows) }),
    ...numbered(rows.map((row) => String(batch.group[row]))),
    ...(batch.pair === undefined ? {} : { pair: Int32Array.from(rows, (row) => batch.pair![row]!) }),
    records: rows.map((row) => batch.records[row]!),
  };
}

/** Tokens of a row, those left out that were said to the policy in the middle of it. */
export function lengthOfRow({ offsets, origin: origins }: Batch, row: number): number {
  let length = 0;
  for (let t = offsets[row]!; t < offsets[row + 1]!; t++) if (origins[t] !== origin.observed) length += 1;
  return length;
}

/** The same of all rows together. */
export function lengthOfAll({ tokens, origin: origins }: Pick<Batch, "tokens" | "origin">): number {
  let length = tokens.length;
  for (const kind of origins) if (kind === origin.observed) length -= 1;
  return length;
}

/** Rows of each group, in order. */
export function rowsOfGroups({ group, groups }: Batch): number[][] {
  const rows: number[][] = Array.from({ length: groups }, () => []);
  group.forEach((number, row) => rows[number]!.push(row));
  return rows;
}

/** Rows of each pair; a row in none is alone. */
function rowsOfPairs({ rows, pair }: Batch): number[][] {
  const units = new Map<string, number[]>();
  for (let row = 0; row < rows; row++) {
    const number = pair?.[row] ?? -1;
    const key = number < 0 ? `row ${row}` : `pair ${number}`;
    units.set(key, [...(units.get(key) ?? []), row]);
  }
  return [...units.values()];
}

/** Mini-batches of about `size` rows that never split an episode, nor a group or a pair where the unit forbids it. */
export function miniBatches(
  batch: Batch,
  size: number | undefined,
  unit: "sequence" | "pair" | "group",
): number[][] {
  const units =
    unit === "group" ? rowsOfGroups(batch) : unit === "pair" ? rowsOfPairs(batch) : rowsOfEpisodes(batch);
  if (size === undefined || size >= batch.rows) return batch.rows === 0 ? [] : [units.flat()];
  const parts: number[][] = [];
  for (const rows of units) {
    const last = parts.at(-1);
    if (last === undefined || last.length + rows.length > size) parts.push([...rows]);
    else last.push(...rows);
  }
  return parts;
}

/** What comes before the rows where they train. */
export const trainedContext = ({ context, trainContext }: Pick<Batch, "context" | "trainContext">): Ragged =>
  trainContext ?? context;
