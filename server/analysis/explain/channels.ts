/** Channels as recorded rollouts have them: under the keys of the format, or under a channel's own name. */
import { fromWire, type MaybeNumber, type RolloutRow } from "../../../shared/rollouts/rollouts.ts";
import type { ColumnWith } from "../../../shared/rollouts/columns.ts";
import { columnOfRows } from "../recorded.ts";
import type { Channel } from "../../core/policy.ts";

const keys: Readonly<Partial<Record<Channel, ColumnWith<{ per: "token"; dtype: "float64" }>>>> = {
  logp: "logp_new",
  entropy: "entropy",
  "head:value": "values",
  "logp:reference": "logp_ref",
  "logp:proximal": "logp_proximal",
};

/** The key of a row under which a channel is looked for. */
export const keyOf = (channel: Channel): string => keys[channel] ?? channel;

/** One number per token, NaN on rows that lack it; undefined where no row has it. */
export function recordedChannel(
  rows: readonly RolloutRow[],
  channel: Channel,
  offsets: Int32Array,
): Float64Array | undefined {
  const known = keys[channel];
  const column = known && columnOfRows(rows, known, offsets);
  return column ?? namedChannel(rows, channel, offsets);
}

function namedChannel(
  rows: readonly RolloutRow[],
  channel: Channel,
  offsets: Int32Array,
): Float64Array | undefined {
  const lists = rows.map((row, i) => ownList(row, channel, offsets[i + 1]! - offsets[i]!));
  if (lists.every((list) => list === undefined)) return undefined;
  const column = new Float64Array(offsets.at(-1)!).fill(Number.NaN);
  lists.forEach((list, i) => list?.forEach((value, at) => (column[offsets[i]! + at] = fromWire(value))));
  return column;
}

const isNumbers = (value: unknown): value is readonly MaybeNumber[] =>
  Array.isArray(value) && value.every((one) => one === null || !Number.isNaN(Number(one)) || one === "NaN");

/** Keys that the format does not know are kept as they are, so they are only looked at here. */
function ownList(row: RolloutRow, channel: string, length: number): readonly MaybeNumber[] | undefined {
  const value: unknown = Object.entries(row).find(([key]) => key === channel)?.[1];
  return isNumbers(value) && value.length === length ? value : undefined;
}
