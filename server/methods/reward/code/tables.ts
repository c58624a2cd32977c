/** How much two results of queries have in common, as PaVeRL-SQL's released code counts it. */
import type { Cell, Table } from "../../../lib/sandbox/queries.ts";

type Column = readonly Cell[];

const columnsOf = ({ columns, rows }: Table): readonly Column[] =>
  columns.map((_, at) => rows.map((row) => row[at] ?? null));

/** Numbers by their first three decimals; texts that are numbers are numbers, as in a CSV file. */
function plain(cell: Cell): string {
  if (cell === null) return "null";
  const number = typeof cell === "number" ? cell : cell.trim() === "" ? Number.NaN : Number(cell);
  return Number.isFinite(number) ? `#${Math.round(number * 1000) / 1000}` : `$${cell}`;
}
const sorted = (column: Column): string => column.map(plain).sort().join("\0");

/** Columns of one that have a column of their own with the same values in the other, in any order. */
function matchedColumns(gold: readonly Column[], own: readonly Column[]): number {
  const left = own.map(sorted);
  return gold.filter((column) => {
    const at = left.indexOf(sorted(column));
    if (at < 0) return false;
    left.splice(at, 1);
    return true;
  }).length;
}

type Kind = "text" | "fraction" | "whole";
const kindOf = (column: Column): Kind =>
  column.some((cell) => plain(cell).startsWith("$"))
    ? "text"
    : column.some((cell) => !Number.isInteger(Number(cell)))
      ? "fraction"
      : "whole";

/** Rows of the longer that belong to the shorter: by a column that has all values of the shorter's key column. */
function aligned(short: readonly Column[], long: readonly Column[]): readonly Column[] {
  const kinds: readonly Kind[] = ["text", "fraction", "whole"];
  const key = kinds.flatMap((kind) => short.filter((column) => kindOf(column) === kind))[0];
  if (key === undefined || key.length === 0) return [];
  const wanted = new Set(key.map(plain));
  const found = long.find(
    (column) =>
      kindOf(column) === kindOf(key) &&
      [...wanted].every((one) => column.some((cell) => plain(cell) === one)),
  );
  return found === undefined
    ? []
    : long.map((column) => column.filter((_, row) => wanted.has(plain(found[row]!))));
}

/**
 * Matched rows · matched columns of the reference, of all that it has: 0 to 1.
 * @param off rows by which the result may be longer or shorter
 */
export function matchedShare(gold: Table, own: Table, off: number): number {
  const [height, length] = [gold.rows.length, own.rows.length];
  if (Math.abs(height - length) > off || gold.columns.length === 0) return 0;
  const [ofGold, ofOwn] = [columnsOf(gold), columnsOf(own)];
  const [left, right] =
    length === height
      ? [ofGold, ofOwn]
      : length > height
        ? [ofGold, aligned(ofGold, ofOwn)]
        : [aligned(ofOwn, ofGold), ofOwn];
  const rows = left[0]?.length ?? 0;
  if ((right[0]?.length ?? 0) !== rows) return 0;
  const columns = matchedColumns(left, right) / gold.columns.length;
  return height === 0 ? columns : (columns * rows) / height;
}

/** Whether both have the same rows, in any order; names of columns do not count. */
export function sameTable(gold: Table, own: Table): boolean {
  const rowsOf = ({ rows }: Table): string =>
    rows
      .map((row) => row.map(plain).join("\0"))
      .sort()
      .join("\n");
  return gold.columns.length === own.columns.length && !own.cut && rowsOf(gold) === rowsOf(own);
}
