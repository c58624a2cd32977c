/** A rollout's per-token arrays as one blob, in the log's own layout: a JSON header, NUL, raw little-endian arrays. */
import {
  bytesOf,
  columnFrom,
  littleEndian,
  typeOf,
  type ColumnArray,
  type ColumnHeader,
} from "../../shared/log/codec.ts";
import type { ColumnName } from "../../shared/log/records.ts";
import { toWire, type MaybeNumber, type RolloutRow } from "../../shared/rollouts.ts";

const origins = ["written", "given", "observed"] as const;

/** null when there are none. */
export function packColumns(columns: Readonly<Partial<Record<ColumnName, ColumnArray>>>): Buffer | null {
  const entries = Object.entries(columns);
  if (entries.length === 0) return null;
  const header = entries.map(([name, column]) => ({ name, type: typeOf(column), length: column.length }));
  return Buffer.concat([
    Buffer.from(JSON.stringify(header)),
    Buffer.from([0]),
    ...entries.map(([, column]) => littleEndian(column)),
  ]);
}

/** The arrays as they stand in a rollout row: `origin` as words, null where a value does not exist. */
export function unpackColumns(blob: Buffer): Partial<RolloutRow> {
  const end = blob.indexOf(0);
  const headers: ColumnHeader[] = JSON.parse(blob.toString("utf8", 0, end));
  let offset = end + 1;
  const row: Record<string, readonly (MaybeNumber | string)[]> = {};
  for (const { name, type, length } of headers) {
    const bytes = length * bytesOf[type];
    const column = columnFrom(type, blob.subarray(offset, offset + bytes));
    row[name] =
      name === "origin"
        ? Array.from(column, (value) => origins[value] ?? "observed")
        : Array.from(column, numberOrNull);
    offset += bytes;
  }
  return row;
}

/** NaN in a column means that the value does not exist. */
const numberOrNull = (value: number): MaybeNumber => (Number.isNaN(value) ? null : toWire(value));
