/** Batches: made of samples while a run goes on, of recorded rows afterwards, and parts of them. */
import type { Lead } from "../slots/guidance.ts";
import { origin, type Batch, type Ragged, type RolloutRecord, type TokenColumns } from "../rollouts.ts";
import type { Sample } from "../policy.ts";
import { mapRowColumns, mapTokenColumns, rowColumnsBy, tokenColumns } from "./columns.ts";

/** One row before it is a row: a sample with what it belongs to. */
export interface SampledRow {
  readonly record: RolloutRecord;
  readonly sample: Pick<Sample, "tokens" | "logp_old" | "logp_sampled" | "entropy" | "versions">;
  /** Token ids in front of the row when it was generated. */
  readonly context: Int32Array;
  /** Replaces `context` in training. */
  readonly train_context?: Int32Array;
  /** Tokens at the row's start that were given, not written; they are not in `sample`. */
  readonly given?: Int32Array;
  /** What help put behind them, before what the sample says. */
  readonly lead?: readonly Lead[];
  /** Which tokens of a helped row train; default: those the policy wrote. */
  readonly trains?: "written" | "given" | "all";
}

type TypedColumn = Float64Array | Int32Array | Uint8Array;

/** A stretch of a row with an origin of its own. */
interface Piece {
  readonly origin: number;
  readonly trains: boolean;
  readonly values: Partial<SampledRow["sample"]> & { readonly tokens: Int32Array };
}

function piecesOf({ given, lead = [], sample, trains = "written" }: SampledRow): Piece[] {
  const own = (values: Piece["values"]): Piece => ({
    origin: origin.written,
    trains: trains !== "given",
    values,
  });
  const helped = lead.map((part): Piece => {
    if (part.kind === "own") return own(part.sample);
    if (part.kind === "observed")
      return { origin: origin.observed, trains: false, values: { tokens: part.tokens } };
    const { tokens, logp } = part;
    return {
      origin: origin.given,
      trains: trains !== "written",
      values: { tokens, ...(logp && { logp_old: logp }) },
    };
  });
  const begin: Piece[] =
    given === undefined ? [] : [{ origin: origin.given, trains: false, values: { tokens: given } }];
  return [...begin, ...helped, own(sample)];
}

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

/** A batch of fresh samples. Given tokens stand before the written ones, with NaN where nobody knows a value for them. */
export function batchOfSamples(rows: readonly SampledRow[]): Batch {
  const pieces = rows.map(piecesOf);
  const offsets = offsetsOf(
    pieces.map((row) => row.reduce((sum, { values }) => sum + values.tokens.length, 0)),
  );
  const size = offsets.at(-1)!;
  const tokens = new Int32Array(size);
  const [origins, mask] = [new Uint8Array(size), new Uint8Array(size)];
  const column = (): Float64Array => new Float64Array(size).fill(Number.NaN);
  const floats = { logp_old: column(), logp_sampled: column(), entropy: column() };
  const versions = new Int32Array(size).fill(-1);
  pieces.forEach((row, i) => {
    let at = offsets[i]!;
    for (const { origin: kind, trains, values } of row) {
      const end = at + values.tokens.length;
      tokens.set(values.tokens, at);
      origins.fill(kind, at, end);
      mask.fill(trains ? 1 : 0, at, end);
      for (const key of ["logp_old", "logp_sampled", "entropy"] as const)
        if (values[key] !== undefined) floats[key].set(values[key], at);
      if (values.versions !== undefined) versions.set(values.versions, at);
      at = end;
    }
  });
  const groups = numbered(rows.map(({ record }) => record.group));
  return {
    rows: rows.length,
    offsets,
    tokens,
    origin: origins,
    mask,
    columns: { ...floats, versions },
    context: raggedOf(rows.map(({ context }) => context)),
    ...(rows.some(({ train_context }) => train_context !== undefined)
      ? { trainContext: raggedOf(rows.map(({ context, train_context }) => train_context ?? context)) }
      : {}),
    ...groups,
    records: rows.map(({ record }) => record),
  };
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

/** The batch of some rows, in the order given; its groups are numbered anew. */
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

/** Rows of each pair; a row in none stands alone. */
function rowsOfPairs({ rows, pair }: Batch): number[][] {
  const units = new Map<string, number[]>();
  for (let row = 0; row < rows; row++) {
    const number = pair?.[row] ?? -1;
    const key = number < 0 ? `row ${row}` : `pair ${number}`;
    units.set(key, [...(units.get(key) ?? []), row]);
  }
  return [...units.values()];
}

/** Mini-batches of about `size` rows that never split a group or a pair where the unit forbids it. */
export function miniBatches(
  batch: Batch,
  size: number | undefined,
  unit: "sequence" | "pair" | "group",
): number[][] {
  const units =
    unit === "group"
      ? rowsOfGroups(batch)
      : unit === "pair"
        ? rowsOfPairs(batch)
        : Array.from({ length: batch.rows }, (_, row) => [row]);
  if (size === undefined || size >= batch.rows) return batch.rows === 0 ? [] : [units.flat()];
  const parts: number[][] = [];
  for (const rows of units) {
    const last = parts.at(-1);
    if (last === undefined || last.length + rows.length > size) parts.push([...rows]);
    else last.push(...rows);
  }
  return parts;
}

/** Typed arrays one behind the other. */
export function joined<T extends TypedColumn>(parts: readonly T[], result: T): T {
  let at = 0;
  for (const part of parts) {
    result.set(part, at);
    at += part.length;
  }
  return result;
}

const lengthsOf = ({ offsets }: Pick<Ragged, "offsets">): number[] =>
  Array.from({ length: offsets.length - 1 }, (_, row) => offsets[row + 1]! - offsets[row]!);

const joinedRagged = (parts: readonly Ragged[]): Ragged => ({
  offsets: offsetsOf(parts.flatMap(lengthsOf)),
  values: joined(
    parts.map(({ values }) => values),
    new Int32Array(parts.reduce((sum, { values }) => sum + values.length, 0)),
  ),
});

/**
 * Batches of any origin as one. A column that some lack is NaN (a version −1) on their rows.
 * @param groups name of each row's group, over all rows
 */
export function joinBatches(batches: readonly Batch[], groups: readonly string[]): Batch {
  const size = batches.reduce((sum, { tokens }) => sum + tokens.length, 0);
  const column = <T extends TypedColumn>(of: (batch: Batch) => T, result: T): T =>
    joined(batches.map(of), result);
  return {
    rows: batches.reduce((sum, { rows }) => sum + rows, 0),
    offsets: offsetsOf(batches.flatMap(lengthsOf)),
    tokens: column(({ tokens }) => tokens, new Int32Array(size)),
    origin: column(({ origin }) => origin, new Uint8Array(size)),
    mask: column(({ mask }) => mask, new Uint8Array(size)),
    columns: joinedColumns(batches),
    ...joinedRows(batches),
    context: joinedRagged(batches.map(({ context }) => context)),
    ...(batches.some(({ trainContext }) => trainContext !== undefined)
      ? { trainContext: joinedRagged(batches.map(trainedBehind)) }
      : {}),
    ...joinedContexts(batches),
    ...numbered(groups),
    records: batches.flatMap(({ records }) => records),
  };
}

/** A column of all batches, with what is missing where a batch lacks it; undefined where all do. */
function joinedColumn<T extends TypedColumn>(
  parts: readonly (T | undefined)[],
  lengths: readonly number[],
  missing: (length: number) => T,
): T | undefined {
  if (parts.every((part) => part === undefined)) return undefined;
  const result = missing(lengths.reduce((sum, length) => sum + length, 0));
  let at = 0;
  parts.forEach((part, i) => {
    if (part !== undefined) result.set(part, at);
    at += lengths[i]!;
  });
  return result;
}

const noNumbers = (length: number): Float64Array => new Float64Array(length).fill(Number.NaN);
const noVersions = (length: number): Int32Array => new Int32Array(length).fill(-1);

function joinedColumns(batches: readonly Batch[]): TokenColumns {
  const lengths = batches.map(({ tokens }) => tokens.length);
  return tokenColumns(
    (name) =>
      joinedColumn(
        batches.map(({ columns }) => columns[name]),
        lengths,
        noNumbers,
      ),
    (name) =>
      joinedColumn(
        batches.map(({ columns }) => columns[name]),
        lengths,
        noVersions,
      ),
  );
}

/** What stands in front of the rows where they train. */
export const trainedBehind = ({ context, trainContext }: Pick<Batch, "context" | "trainContext">): Ragged =>
  trainContext ?? context;

function joinedContexts(batches: readonly Batch[]): Pick<Batch, "contexts"> {
  const names = [...new Set(batches.flatMap(({ contexts = {} }) => Object.keys(contexts)))];
  if (names.length === 0) return {};
  const of = (name: string): Ragged =>
    joinedRagged(batches.map((batch) => batch.contexts?.[name] ?? trainedBehind(batch)));
  return { contexts: Object.fromEntries(names.map((name) => [name, of(name)])) };
}

/** Columns with a number per row. */
function joinedRows(batches: readonly Batch[]): Pick<Batch, "rowColumns" | "pair"> {
  const lengths = batches.map(({ rows }) => rows);
  let pairs = 0;
  const pair = batches.map((batch) => {
    const start = pairs;
    const own = batch.pair ?? new Int32Array(batch.rows).fill(-1);
    pairs += own.reduce((most, number) => Math.max(most, number + 1), 0);
    return own.map((number) => (number < 0 ? -1 : number + start));
  });
  return {
    ...rowColumnsBy((name) =>
      joinedColumn(
        batches.map(({ rowColumns }) => rowColumns?.[name]),
        lengths,
        noNumbers,
      ),
    ),
    ...(pairs > 0
      ? { pair: joined(pair, new Int32Array(lengths.reduce((sum, rows) => sum + rows, 0))) }
      : {}),
  };
}
