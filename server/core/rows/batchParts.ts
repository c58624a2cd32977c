/**
 * A batch taken some whole rows at a time, as views of its columns: what one formula after the other computes of a part
 * stays in the processor's cache.
 */
import type { Batch, Ragged, TokenColumns } from "../rollouts.ts";
import type { Channel } from "../policy.ts";
import { mapRowColumns, mapTokenColumns } from "./columns.ts";
import type { Objective, ObjectiveInput, LossSlice, RunningLoss, WholeInput } from "../loss.ts";

/** Rows [first, last) of a batch and their tokens [from, to). */
export interface Stretch {
  readonly first: number;
  readonly last: number;
  readonly from: number;
  readonly to: number;
}

/** The whole batch as one stretch. */
export const everything = ({ rows, offsets }: Pick<Batch, "rows" | "offsets">): Stretch => ({
  first: 0,
  last: rows,
  from: 0,
  to: offsets[rows]!,
});

/** Tokens of a stretch: a dozen columns of so many numbers fit the cache of one core. A longer row is one by itself. */
const most = 4096;

export function* stretchesOf({ rows, offsets }: Pick<Batch, "rows" | "offsets">): Generator<Stretch> {
  for (let last = 0; last < rows;) {
    const first = last;
    const from = offsets[first]!;
    do last += 1;
    while (last < rows && offsets[last + 1]! - from <= most);
    yield { first, last, from, to: offsets[last]! };
  }
}

/** The same channels on the stretch's tokens. */
function cutStats(
  stats: Readonly<Record<string, Float64Array | undefined>>,
  { from, to }: Stretch,
): Record<string, Float64Array> {
  const views: Record<string, Float64Array> = {};
  for (const channel in stats) {
    const column = stats[channel];
    if (column !== undefined) views[channel] = column.subarray(from, to);
  }
  return views;
}

const cutColumns = (columns: TokenColumns, { from, to }: Stretch): TokenColumns =>
  mapTokenColumns(
    columns,
    (values) => values.subarray(from, to),
    (values) => values.subarray(from, to),
  );

const cutRagged = ({ offsets, values }: Ragged, { first, last }: Stretch): Ragged => ({
  offsets: offsets.subarray(first, last + 1),
  values,
});

/** The batch of the stretch's rows. Groups keep their numbers: some may have no row here. */
function cutBatch(batch: Batch, at: Stretch): Batch {
  const { first, last, from, to } = at;
  if (first === 0 && last === batch.rows) return batch;
  const { rowColumns, trainContext, pair } = batch;
  return {
    ...batch,
    rows: last - first,
    offsets: batch.offsets.subarray(first, last + 1).map((offset) => offset - from),
    tokens: batch.tokens.subarray(from, to),
    origin: batch.origin.subarray(from, to),
    mask: batch.mask.subarray(from, to),
    columns: cutColumns(batch.columns, at),
    context: cutRagged(batch.context, at),
    ...mapRowColumns(rowColumns, (values) => values.subarray(first, last)),
    ...(trainContext && { trainContext: cutRagged(trainContext, at) }),
    ...(pair && { pair: pair.subarray(first, last) }),
    group: batch.group.subarray(first, last),
    records: batch.records.slice(first, last),
  };
}

/** Of a stretch's tokens, factor_t = weight_t · that of its row; written to the beginning of `into`. */
export function factorsInto(
  into: Float64Array,
  weights: Float64Array,
  byRow: Float64Array,
  { offsets }: Pick<Batch, "offsets">,
  { first, last, from }: Stretch,
): Float64Array {
  for (let row = first; row < last; row++) {
    const factor = byRow[row]!;
    const end = offsets[row + 1]! - from;
    for (let i = offsets[row]! - from; i < end; i++) into[i] = weights[i]! * factor;
  }
  return into;
}

/** Of a stretch's tokens, the factor that all of a row have; written to the beginning of `into`. */
export function spreadInto(
  into: Float64Array,
  factors: Float64Array,
  { offsets }: Pick<Batch, "offsets">,
  { first, last, from }: Stretch,
): Float64Array {
  for (let row = first; row < last; row++)
    into.fill(factors[row - first]!, offsets[row]! - from, offsets[row + 1]! - from);
  return into;
}

/** What an objective sees of a stretch, but for the columns that are made for it. */
export function cut(
  {
    batch,
    now,
    old,
    correction,
    clock,
    version,
  }: Pick<ObjectiveInput, "batch" | "now" | "old" | "correction" | "clock" | "version">,
  at: Stretch,
): Omit<LossSlice, "weights" | "factors" | "advantages" | "gradientOf"> {
  const { first, from, to } = at;
  return {
    from,
    first,
    batch: cutBatch(batch, at),
    now: cutStats(now, at),
    old: cutStats(old, at),
    ...(correction && { correction: correction.subarray(from, to) }),
    ...(clock && { clock }),
    ...(version !== undefined && { version }),
  };
}

/**
 * Columns of a loss's derivatives, all 0 until something is written. They are cleared as far as they are asked for: what
 * is written next is near then.
 */
export class Gradients {
  private readonly made = new Map<Channel, { readonly column: Float64Array; cleared: number }>();

  /** @param make a column; its contents are undefined */
  constructor(private readonly make: (channel: Channel) => Float64Array) {}

  get columns(): Partial<Record<Channel, Float64Array>> {
    return Object.fromEntries(Array.from(this.made.keys(), (channel) => [channel, this.of(channel)]));
  }
  of(channel: Channel): Float64Array {
    return this.upTo(channel, Number.POSITIVE_INFINITY);
  }
  on(channel: Channel, { from, to }: Stretch): Float64Array {
    return this.upTo(channel, to).subarray(from, to);
  }
  /** Derivatives that somebody else computed. */
  take(columns: Readonly<Partial<Record<Channel, Float64Array>>>): void {
    for (const [channel, column] of Object.entries(columns) as [Channel, Float64Array | undefined][])
      if (column !== undefined) this.made.set(channel, { column, cleared: column.length });
  }

  private upTo(channel: Channel, token: number): Float64Array {
    const known = this.made.get(channel) ?? { column: this.make(channel), cleared: 0 };
    this.made.set(channel, known);
    const { column, cleared } = known;
    known.cleared = Math.max(cleared, Math.min(token, column.length));
    return known.cleared === cleared ? column : column.fill(0, cleared, known.cleared);
  }
}

/** Adds the whole input up in parts. @returns its loss */
export function addUp(running: RunningLoss, input: ObjectiveInput, gradients: Gradients): number {
  let loss = 0;
  for (const at of stretchesOf(input.batch)) loss += running.add(partOf(input, at, gradients));
  return loss;
}

/** A part of an input that has every column. */
export const partOf = (input: ObjectiveInput, at: Stretch, gradients: Gradients): LossSlice => ({
  ...cut(input, at),
  weights: input.weights.subarray(at.from, at.to),
  factors: input.factors.subarray(at.from, at.to),
  advantages: input.advantages.subarray(at.from, at.to),
  gradientOf: (channel) => gradients.on(channel, at),
});

/** Derivatives of a whole input, that by logp where the input has a place for it. */
export const gradientsOf = ({ gradient, weights }: ObjectiveInput): Gradients =>
  new Gradients((channel) =>
    channel === "logp" && gradient !== undefined ? gradient : new Float64Array(weights.length),
  );

/** An objective that is taken in parts, with the same on a whole input. */
export const inParts = (
  about: Omit<Objective, "loss" | "start">,
  start: (whole: WholeInput) => RunningLoss,
): Objective => ({
  ...about,
  start,
  loss(input) {
    const running = start(input);
    const gradients = gradientsOf(input);
    const loss = addUp(running, input, gradients);
    return { loss, gradients: gradients.columns, ...running.result() };
  },
});
