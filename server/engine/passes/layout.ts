/** Rows of a batch as right-padded rectangles: micro-batches of similar length under a token budget. */
import { trainedContext } from "../../core/rows/batch.ts";
import type { Batch, Ragged } from "../../core/rollouts.ts";

/** Context and tokens of a row, end to end. */
export interface TokenRow {
  readonly row: number;
  readonly tokens: Int32Array;
  /** Tokens in front of the first that is scored. At least 1. */
  readonly context: number;
  /** Where the row's columns begin. */
  readonly column: number;
}

/** One rectangle: `ids[r, t]` predicts `targets[r · length + t]`. */
export interface MicroBatch {
  readonly rows: readonly TokenRow[];
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
export function rowsOf(batch: Batch, bos: number): TokenRow[] {
  const contexts = trainedContext(batch);
  return Array.from({ length: batch.rows }, (_, row) => ({
    row,
    column: batch.offsets[row]!,
    ...conditioned(contexts, row, batch.tokens.subarray(batch.offsets[row], batch.offsets[row + 1]), bos),
  }));
}

function conditioned(
  { offsets, values }: Ragged,
  row: number,
  own: Int32Array,
  bos: number,
): Pick<TokenRow, "tokens" | "context"> {
  const given = values.subarray(offsets[row], offsets[row + 1]);
  const context = given.length === 0 ? Int32Array.of(bos) : given;
  const tokens = new Int32Array(context.length + own.length);
  tokens.set(context);
  tokens.set(own, context.length);
  return { tokens, context: context.length };
}

/** The same rows after other contexts, in the same order. */
export function withContexts(micro: MicroBatch, contexts: Ragged, bos: number, pad: number): MicroBatch {
  if (micro.rows.length === 0) return micro;
  const rows = micro.rows.map((one) => ({
    ...one,
    ...conditioned(contexts, one.row, one.tokens.subarray(one.context), bos),
  }));
  return rectangle(rows, pad);
}

function rectangle(rows: readonly TokenRow[], pad: number): MicroBatch {
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

/** A placeholder for a stream with nothing to do. */
const emptyMicroBatch = (pad: number): MicroBatch => ({
  rows: [],
  length: 1,
  ids: Int32Array.of(pad),
  targets: Int32Array.of(pad),
});
export const microRows = (micro: MicroBatch): number => micro.ids.length / micro.length;

/** What one more run costs, in tokens: its own start, and adding its gradients to the others'. */
const RUN_COST = 64;

/**
 * Rows by length, cut into runs of `streams` micro-batches of at most `budget` tokens each. A run's rows are neighbours
 * in length, dealt to its streams in turn, so that these end together; where to cut is chosen for the least total of
 * rectangles and runs. (Rows are not packed after one another: so cut, ragged rows leave less to gain than a mask of
 * blocks and attention over longer rectangles cost.)
 */
export function microBatches(
  rows: readonly TokenRow[],
  budget: number,
  streams: number,
  pad: number,
): MicroBatch[] {
  const scored = rows.filter((row) => row.tokens.length > row.context);
  const sorted = [...scored].sort((a, b) => b.tokens.length - a.tokens.length || a.row - b.row);
  const micros: MicroBatch[] = [];
  let from = 0;
  for (const to of cuts(sorted, budget, streams)) {
    for (let stream = 0; stream < streams; stream++) {
      const own = sorted.slice(from, to).filter((_, index) => index % streams === stream);
      micros.push(own.length === 0 ? emptyMicroBatch(pad) : rectangle(own, pad));
    }
    from = to;
  }
  return micros;
}

/** Ends of the runs, by the shortest way from the last row to the first: each row begins a run of every length that fits. */
function cuts(sorted: readonly TokenRow[], budget: number, streams: number): number[] {
  const least = new Float64Array(sorted.length + 1);
  const next = new Int32Array(sorted.length);
  for (let from = sorted.length - 1; from >= 0; from--) {
    const length = roundUp(sorted[from]!.tokens.length - 1, ROUND);
    // A row that is longer than the budget has a rectangle of its own.
    const most = streams * Math.max(1, Math.floor(budget / length));
    least[from] = Infinity;
    for (let to = from + 1; to <= Math.min(sorted.length, from + most); to++) {
      const cost = streams * (Math.ceil((to - from) / streams) * length + RUN_COST) + least[to]!;
      if (cost > least[from]!) continue;
      least[from] = cost;
      next[from] = to;
    }
  }
  const ends: number[] = [];
  for (let at = 0; at < sorted.length;) ends.push((at = next[at]!));
  return ends;
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
