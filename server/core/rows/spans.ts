/** Rows cut into the units that are compared: whole responses, turns, steps or tokens. */
import type { Level } from "../basics.ts";
import type { Batch } from "../rollouts.ts";

/** Tokens [starts[k], ends[k]) of the batch, in order; a row's spans are together. */
export interface Spans {
  readonly starts: Int32Array;
  readonly ends: Int32Array;
  readonly rows: Int32Array;
}

/** Spans of one row relative to its start: as recorded, else the whole row. */
function spansOfRow(
  { records }: Batch,
  row: number,
  level: Level,
): readonly (readonly [number, number])[] | undefined {
  if (level === "turn") return records[row]?.turns?.map(({ start, end }) => [start, end]);
  return level === "step" ? records[row]?.steps : undefined;
}

function tokenSpans({ tokens, offsets, rows }: Batch): Spans {
  const size = tokens.length;
  const [starts, ends, owner] = [new Int32Array(size), new Int32Array(size), new Int32Array(size)];
  for (let t = 0; t < size; t++) {
    starts[t] = t;
    ends[t] = t + 1;
  }
  for (let row = 0; row < rows; row++) owner.fill(row, offsets[row]!, offsets[row + 1]!);
  return { starts, ends, rows: owner };
}

export function spansOf(batch: Batch, level: Level): Spans {
  const { offsets, rows } = batch;
  if (level === "token") return tokenSpans(batch);
  const found: [number, number, number][] = [];
  for (let row = 0; row < rows; row++) {
    const [start, end] = [offsets[row]!, offsets[row + 1]!];
    const parts = spansOfRow(batch, row, level);
    if (parts === undefined || parts.length === 0) found.push([start, end, row]);
    else for (const [from, to] of parts) found.push([start + from, Math.min(start + to, end), row]);
  }
  return {
    starts: Int32Array.from(found, ([start]) => start),
    ends: Int32Array.from(found, ([, end]) => end),
    rows: Int32Array.from(found, ([, , row]) => row),
  };
}

/** The first token of [start, end) that trains; −1 where none does. */
export function firstTrained(weights: Float64Array, start: number, end: number): number {
  for (let t = start; t < end; t++) if (weights[t] !== 0) return t;
  return -1;
}

/** The last token of [start, end) that trains; −1 where none does. */
export function lastTrained(weights: Float64Array, start: number, end: number): number {
  for (let t = end - 1; t >= start; t--) if (weights[t] !== 0) return t;
  return -1;
}
