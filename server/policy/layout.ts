/** Rows of a batch as right-padded rectangles: micro-batches of similar length under a token budget. */
import type { Batch } from "../seams.ts";

/** Context and tokens of a row, end to end. */
export interface Row {
  readonly row: number;
  readonly tokens: Int32Array;
  /** Tokens in front of the first that is scored. At least 1. */
  readonly context: number;
  /** Where the row's columns begin. */
  readonly column: number;
}

/** One rectangle: `ids[r, t]` predicts `targets[r · length + t]`. */
export interface MicroBatch {
  readonly rows: readonly Row[];
  readonly length: number;
  readonly ids: Int32Array;
  readonly targets: Int32Array;
}

/** Extents are rounded up to this, so that few different sizes occur and their compiled kernels are reused. */
export const ROUND = 8;
export const roundUp = (value: number, to: number): number => Math.ceil(value / to) * to;
/** The least of 1, 2, 3, 4, 6, 8, 12, 16, 24, … that is not below `value`: few sizes, each at most a half more. */
export function roundSize(value: number): number {
  const power = 2 ** Math.ceil(Math.log2(Math.max(1, value)));
  return power >= 4 && value <= 0.75 * power ? 0.75 * power : power;
}

/** An empty context is the beginning-of-sequence token, as in generation. */
export function rowsOf(batch: Batch, bos: number): Row[] {
  const contexts = batch.trainContext ?? batch.context;
  return Array.from({ length: batch.rows }, (_, row) => {
    const given = contexts.values.subarray(contexts.offsets[row], contexts.offsets[row + 1]);
    const context = given.length === 0 ? Int32Array.of(bos) : given;
    const own = batch.tokens.subarray(batch.offsets[row], batch.offsets[row + 1]);
    const tokens = new Int32Array(context.length + own.length);
    tokens.set(context);
    tokens.set(own, context.length);
    return { row, tokens, context: context.length, column: batch.offsets[row]! };
  });
}

function rectangle(rows: readonly Row[], pad: number): MicroBatch {
  const longest = Math.max(1, ...rows.map((row) => row.tokens.length - 1));
  const length = roundUp(longest, ROUND);
  const ids = new Int32Array(rows.length * length).fill(pad);
  const targets = new Int32Array(rows.length * length).fill(pad);
  rows.forEach((row, index) => {
    ids.set(row.tokens.subarray(0, -1), index * length);
    targets.set(row.tokens.subarray(1), index * length);
  });
  return { rows, length, ids, targets };
}

/** A stand-in for a stream with nothing to do. */
export const emptyMicroBatch = (pad: number): MicroBatch => ({
  rows: [],
  length: 1,
  ids: Int32Array.of(pad),
  targets: Int32Array.of(pad),
});
export const microRows = (micro: MicroBatch): number => micro.ids.length / micro.length;

/**
 * Rows by length, cut into micro-batches of at most `budget` tokens, their number a multiple of `streams` where there
 * are rows enough, with about equal work in each.
 */
export function microBatches(
  rows: readonly Row[],
  budget: number,
  streams: number,
  pad: number,
): MicroBatch[] {
  const scored = rows.filter((row) => row.tokens.length > row.context);
  const sorted = [...scored].sort((a, b) => b.tokens.length - a.tokens.length || a.row - b.row);
  const cost = (row: Row): number => roundUp(row.tokens.length - 1, ROUND);
  const total = sorted.reduce((sum, row) => sum + cost(row), 0);
  const parts = roundUp(Math.max(1, Math.ceil(total / budget)), streams);
  const wanted = total / parts;
  const cut: MicroBatch[] = [];
  let open: Row[] = [];
  let done = 0;
  let held = 0;
  for (const row of sorted) {
    const rectangleCost = (open.length + 1) * cost(open[0] ?? row);
    if (open.length > 0 && rectangleCost > budget) {
      cut.push(rectangle(open, pad));
      open = [];
      done += held;
      held = 0;
    }
    open.push(row);
    held += cost(row);
    if (done + held >= wanted * (cut.length + 1) - 1e-9) {
      cut.push(rectangle(open, pad));
      open = [];
      done += held;
      held = 0;
    }
  }
  if (open.length > 0) cut.push(rectangle(open, pad));
  return cut;
}

/** Consecutive micro-batches, one a stream; short groups are filled with empty ones. */
export function perRun(micros: readonly MicroBatch[], streams: number, pad: number): MicroBatch[][] {
  const runs: MicroBatch[][] = [];
  for (let start = 0; start < micros.length; start += streams) {
    const run = micros.slice(start, start + streams);
    while (run.length < streams) run.push(emptyMicroBatch(pad));
    runs.push(run);
  }
  return runs;
}
