/** The columns that a batch may have, each in its turn; and one that a method reads, with an error that names what is missing. */
import { UserError } from "../../../shared/lib/errors.ts";
import { columnsWith } from "../../../shared/rollouts/columns.ts";
import type { Batch, RowColumns, TokenColumns } from "../rollouts.ts";

const floatColumns = columnsWith({ per: "token", batch: "column", dtype: "float64" });
const integerColumns = columnsWith({ per: "token", batch: "column", dtype: "int32" });
const rowColumns = columnsWith({ per: "row", batch: "column" });
const replayed: ReadonlySet<string> = new Set(columnsWith({ replayed: true }));

/** Columns of numbers that may be missing. */
export type FloatColumn = (typeof floatColumns)[number];
type IntegerColumn = (typeof integerColumns)[number];
type Mutable<Columns> = { -readonly [Name in keyof Columns]: Columns[Name] };

/** Token columns by their names; undefined: there is none. */
export function tokenColumns(
  floats: (name: FloatColumn) => Float64Array | undefined,
  integers: (name: IntegerColumn) => Int32Array | undefined,
): TokenColumns {
  const made: Mutable<TokenColumns> = {};
  for (const name of floatColumns) {
    const values = floats(name);
    if (values !== undefined) made[name] = values;
  }
  for (const name of integerColumns) {
    const values = integers(name);
    if (values !== undefined) made[name] = values;
  }
  return made;
}

/** Row columns by their names, where there is one. */
export function rowColumnsBy(
  of: (name: keyof RowColumns) => Float64Array | undefined,
): Pick<Batch, "rowColumns"> {
  const made: Mutable<RowColumns> = {};
  for (const name of rowColumns) {
    const values = of(name);
    if (values !== undefined) made[name] = values;
  }
  return Object.keys(made).length === 0 ? {} : { rowColumns: made };
}

/** The columns of a batch, each made of the one that was there. */
export const mapTokenColumns = (
  columns: TokenColumns,
  floats: (values: Float64Array) => Float64Array,
  integers: (values: Int32Array) => Int32Array,
): TokenColumns =>
  tokenColumns(
    (name) => columns[name] && floats(columns[name]),
    (name) => columns[name] && integers(columns[name]),
  );
export const mapRowColumns = (
  columns: RowColumns = {},
  make: (values: Float64Array) => Float64Array,
): Pick<Batch, "rowColumns"> => rowColumnsBy((name) => columns[name] && make(columns[name]));

/** The batch with the columns that replay keeps, and no other. */
export function withReplayedColumns({ columns, rowColumns: byRow, ...batch }: Batch): Batch {
  const kept = <Values>(name: string, values: Values): Values | undefined =>
    replayed.has(name) ? values : undefined;
  return {
    ...batch,
    columns: tokenColumns(
      (name) => kept(name, columns[name]),
      (name) => kept(name, columns[name]),
    ),
    ...rowColumnsBy((name) => kept(name, byRow?.[name])),
  };
}

/** @throws UserError where the rollouts lack `logp_sampled` */
export function sampledColumn({ columns }: Batch, who: string): Float64Array {
  if (columns.logp_sampled !== undefined) return columns.logp_sampled;
  throw new UserError(`${who} needs logp_sampled, which the rollouts do not have`, {
    code: "channel-missing",
    action: "Record logp_sampled with the rollouts, or choose options that do not use it.",
  });
}
