/** Several batches as one. */
import type { Batch, Ragged, TokenColumns } from "../rollouts.ts";
import { numbered, offsetsOf, trainedContext, type TypedColumn } from "./batch.ts";
import { rowColumnsBy, tokenColumns } from "./columns.ts";

/** Typed arrays one after the other. */
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
      ? { trainContext: joinedRagged(batches.map(trainedContext)) }
      : {}),
    ...joinedContexts(batches),
    ...numbered(groups),
    records: batches.flatMap(({ records }) => records),
  };
}

/** A column of all batches, with what is missing where a batch lacks it; undefined where all do. */
function joinedColumn<T extends TypedColumn>(
  batches: readonly Batch[],
  of: (batch: Batch) => T | undefined,
  lengthOf: (batch: Batch) => number,
  missing: (length: number) => T,
): T | undefined {
  if (batches.every((batch) => of(batch) === undefined)) return undefined;
  const parts = batches.map((batch) => of(batch) ?? missing(lengthOf(batch)));
  return joined(parts, missing(parts.reduce((sum, { length }) => sum + length, 0)));
}

const noNumbers = (length: number): Float64Array => new Float64Array(length).fill(Number.NaN);
const noVersions = (length: number): Int32Array => new Int32Array(length).fill(-1);

function joinedColumns(batches: readonly Batch[]): TokenColumns {
  const tokensIn = ({ tokens }: Batch): number => tokens.length;
  return tokenColumns(
    (name) => joinedColumn(batches, ({ columns }) => columns[name], tokensIn, noNumbers),
    (name) => joinedColumn(batches, ({ columns }) => columns[name], tokensIn, noVersions),
  );
}

function joinedContexts(batches: readonly Batch[]): Pick<Batch, "contexts"> {
  const names = [...new Set(batches.flatMap(({ contexts = {} }) => Object.keys(contexts)))];
  if (names.length === 0) return {};
  const of = (name: string): Ragged =>
    joinedRagged(batches.map((batch) => batch.contexts?.[name] ?? trainedContext(batch)));
  return { contexts: Object.fromEntries(names.map((name) => [name, of(name)])) };
}

/** Columns with a number per row. */
function joinedRows(batches: readonly Batch[]): Pick<Batch, "rowColumns" | "pair"> {
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
        batches,
        ({ rowColumns }) => rowColumns?.[name],
        ({ rows }) => rows,
        noNumbers,
      ),
    ),
    ...(pairs > 0 && {
      pair: joined(pair, new Int32Array(pair.reduce((sum, { length }) => sum + length, 0))),
    }),
  };
}
