/**
 * One optimiser step's gradient, in one of three ways with one result.
 *
 * fused: the stored behaviour values serve as `now`, so coefficients are known first and one run does forward and
 * backward. staged: a forward run keeps its activations on the device, `weigh` looks at the whole mini-batch, a
 * backward run takes the activations up again. recompute: activations beyond the memory budget are computed twice.
 * Kept activations are plain device values that the forward run returns and the backward run is fed; they are freed
 * whether the step succeeds or not, so an aborted step leaves nothing behind.
 */
import { UserError } from "../../shared/errors.ts";
import type { Batch, Channel, Stats, UpdatePlan, Weigh, Weighed } from "../seams.ts";
import { microRows, perRun, type MicroBatch } from "./layout.ts";
import type { Programs } from "./programs.ts";
import { freeAll, prefixed, type DeviceTensor, type Tensors } from "./runtime.ts";
import {
  detailOf,
  emptyColumns,
  isOwnChannel,
  readChannels,
  rowFeeds,
  unsupportedChannel,
  type Columns,
  type OwnChannel,
} from "./score.ts";
import { keptFloats } from "./transformer/forward.ts";
import { detailChannels, type Detail } from "./transformer/head.ts";

export type Mode = "fused" | "staged" | "recompute";
type Run = readonly MicroBatch[];

export interface Engine {
  readonly programs: Programs;
  readonly weights: Tensors;
  readonly rotary: DeviceTensor;
  readonly pad: number;
  /** Bytes that kept activations may take. */
  readonly budget: number;
}

/** A run's activations on the device, between its forward and its backward half. */
interface Kept {
  readonly run: Run;
  readonly feeds: Record<string, DeviceTensor>;
  /** Undefined: beyond the budget, to be computed again. */
  readonly activations: Record<string, DeviceTensor> | undefined;
}

/** Channels that this update can take gradients of; an error for others. */
function checkedGradients(weighed: Weighed, batch: Batch): Partial<Record<OwnChannel, Float64Array>> {
  const gradients: Partial<Record<OwnChannel, Float64Array>> = {};
  for (const [name, column] of Object.entries(weighed.gradients) as [Channel, Float64Array | undefined][]) {
    if (column === undefined || column.every((value) => value === 0)) continue;
    if (!isOwnChannel(name)) throw unsupportedChannel(name);
    if (column.length !== batch.tokens.length) {
      throw new UserError(
        `The gradient by ${name} has ${column.length} values for ${batch.tokens.length} tokens.`,
        { code: "gradient-shape" },
      );
    }
    gradients[name] = column;
  }
  return gradients;
}

/** Coefficients `[tokens of the rectangle, channels]` of one micro-batch; undefined where all are zero. */
function coefficients(
  micro: MicroBatch,
  detail: Detail,
  gradients: Partial<Record<OwnChannel, Float64Array>>,
): Float32Array | undefined {
  const names = detailChannels[detail];
  const values = new Float32Array(micro.targets.length * names.length);
  let any = false;
  names.forEach((name, channel) => {
    const column = gradients[name];
    if (column === undefined) return;
    micro.rows.forEach((row, index) => {
      const start = index * micro.length + row.context - 1;
      for (let i = 0; i < row.tokens.length - row.context; i++) {
        const value = column[row.column + i] ?? 0;
        if (value !== 0) any = true;
        values[(start + i) * names.length + channel] = value;
      }
    });
  });
  return any ? values : undefined;
}

function uploadCoefficients(
  programs: Programs,
  run: Run,
  detail: Detail,
  gradients: Partial<Record<OwnChannel, Float64Array>>,
): Record<string, DeviceTensor> | undefined {
  const channels = detailChannels[detail].length;
  const values = run.map((micro) => coefficients(micro, detail, gradients));
  if (values.every((value) => value === undefined)) return undefined;
  return Object.fromEntries(
    run.map((micro, stream) => [
      `${stream}/coefficients`,
      programs.runtime.upload(values[stream] ?? new Float32Array(micro.targets.length * channels), [
        micro.targets.length,
        channels,
      ]),
    ]),
  );
}

/** Adds up gradients of runs; owns the sum. */
class Accumulator {
  sum: Record<string, DeviceTensor> | undefined;
  constructor(private readonly programs: Programs) {}
  add(gradients: Record<string, DeviceTensor>): void {
    if (this.sum === undefined) {
      this.sum = gradients;
      return;
    }
    const before = this.sum;
    this.sum = this.programs.accumulate().run({ ...prefixed("a/", before), ...prefixed("b/", gradients) });
    freeAll(before);
    freeAll(gradients);
  }
}

/** Forward and backward in one, for rows whose coefficients are known. */
function addFused(
  engine: Engine,
  run: Run,
  detail: Detail,
  gradients: Partial<Record<OwnChannel, Float64Array>>,
  into: Accumulator,
  feeds?: Tensors,
): void {
  const { programs, weights, rotary } = engine;
  const weighing = uploadCoefficients(programs, run, detail, gradients);
  if (weighing === undefined) return;
  const own = feeds === undefined ? rowFeeds(programs, run) : {};
  try {
    into.add(programs.fused(detail).run({ ...weights, rotary, ...(feeds ?? own), ...weighing }));
  } finally {
    freeAll(own);
    freeAll(weighing);
  }
}

const bytesOf = (programs: Programs, run: Run): number =>
  run.reduce(
    (total, micro) => total + 4 * microRows(micro) * micro.length * keptFloats(programs.shape, micro.length),
    0,
  );

/** Runs forward over everything, keeping activations while the budget lasts. */
function forwardAll(
  engine: Engine,
  runs: readonly Run[],
  detail: Detail,
  columns: Columns,
  kept: Kept[],
): void {
  const { programs, weights, rotary } = engine;
  let budget = engine.budget;
  for (const run of runs) {
    const feeds = rowFeeds(programs, run);
    const entry = { run, feeds, activations: undefined };
    kept.push(entry);
    budget -= bytesOf(programs, run);
    const program = budget >= 0 ? programs.forward(detail) : programs.score(detail);
    const results = program.run({ ...weights, rotary, ...feeds });
    readChannels(results, run, detail, columns);
    run.forEach((_, stream) => results[`${stream}/channels`]?.free());
    const activations = Object.fromEntries(
      Object.entries(results).filter(([name]) => name.includes("/kept/")),
    );
    if (budget >= 0) kept[kept.length - 1] = { run, feeds, activations };
  }
}

function backwardAll(
  engine: Engine,
  kept: readonly Kept[],
  detail: Detail,
  gradients: Partial<Record<OwnChannel, Float64Array>>,
  into: Accumulator,
): void {
  const { programs, weights, rotary } = engine;
  for (const { run, feeds, activations } of kept) {
    if (activations === undefined) {
      addFused(engine, run, detail, gradients, into, feeds);
      continue;
    }
    const weighing = uploadCoefficients(programs, run, detail, gradients);
    if (weighing === undefined) continue;
    try {
      into.add(programs.backward(detail).run({ ...weights, rotary, ...feeds, ...activations, ...weighing }));
    } finally {
      freeAll(weighing);
    }
  }
}

export interface Gradient {
  readonly weighed: Weighed;
  readonly mode: Mode;
  /** By the folded matrices; undefined where every coefficient is zero. The caller's to free. */
  readonly folded: Record<string, DeviceTensor> | undefined;
  /** Tokens with a coefficient. */
  readonly tokens: number;
}

/** Stored columns as `now`, where they can be: fresh weights, every channel stored for every token that trains. */
export function storedStats(batch: Batch, plan: UpdatePlan): Stats | undefined {
  if (plan.fresh !== true) return undefined;
  const stored: Partial<Record<Channel, Float64Array>> = {};
  for (const channel of plan.channels) {
    if (!isOwnChannel(channel)) continue;
    const column =
      channel === "logp" ? batch.columns.logp_old : channel === "entropy" ? batch.columns.entropy : undefined;
    if (column === undefined) return undefined;
    // A stripped context changes what the tokens are conditioned on: stored values are of the other one.
    if (batch.trainContext !== undefined) return undefined;
    for (let i = 0; i < column.length; i++)
      if (batch.mask[i] === 1 && Number.isNaN(column[i])) return undefined;
    stored[channel] = column;
  }
  return stored;
}

function countTokens(gradients: Partial<Record<OwnChannel, Float64Array>>): number {
  const columns = Object.values(gradients);
  let count = 0;
  const length = columns[0]?.length ?? 0;
  for (let i = 0; i < length; i++) if (columns.some((column) => column[i] !== 0)) count += 1;
  return count;
}

/** Keeps only the rows that a coefficient touches. */
function touched(
  gradients: Partial<Record<OwnChannel, Float64Array>>,
): (row: MicroBatch["rows"][number]) => boolean {
  const columns = Object.values(gradients);
  return (row) => {
    for (let i = row.column; i < row.column + row.tokens.length - row.context; i++)
      if (columns.some((column) => column[i] !== 0)) return true;
    return false;
  };
}

export interface Cutting {
  /** Micro-batches of the rows that pass. */
  (keep?: (row: MicroBatch["rows"][number]) => boolean): MicroBatch[];
}

/** The gradient of `weigh`'s loss. `others` are channels of other models, already scored. */
export function gradientOf(
  engine: Engine,
  batch: Batch,
  plan: UpdatePlan,
  weigh: Weigh,
  cut: Cutting,
  others: Stats,
): Gradient {
  const { programs, pad } = engine;
  const { streams } = programs.runtime;
  const into = new Accumulator(programs);
  const stored = storedStats(batch, plan);
  if (stored !== undefined) {
    const weighed = weigh({ ...stored, ...others }, batch);
    const gradients = checkedGradients(weighed, batch);
    const micros = cut(touched(gradients));
    const detail = detailOf(Object.keys(gradients) as Channel[]);
    for (const run of perRun(micros, streams, pad)) addFused(engine, run, detail, gradients, into);
    return { weighed, mode: "fused", folded: into.sum, tokens: countTokens(gradients) };
  }
  const runs = perRun(cut(), streams, pad);
  const detail = detailOf(plan.channels);
  const columns = emptyColumns(batch);
  const kept: Kept[] = [];
  try {
    forwardAll(engine, runs, detail, columns, kept);
    const now = Object.fromEntries(
      plan.channels.filter(isOwnChannel).map((channel) => [channel, columns[channel]]),
    );
    const weighed = weigh({ ...now, ...others }, batch);
    const gradients = checkedGradients(weighed, batch);
    backwardAll(engine, kept, detailOf(Object.keys(gradients) as Channel[]), gradients, into);
    const mode: Mode = kept.some(({ activations }) => activations === undefined) ? "recompute" : "staged";
    return { weighed, mode, folded: into.sum, tokens: countTokens(gradients) };
  } catch (error) {
    if (into.sum !== undefined) freeAll(into.sum);
    throw error;
  } finally {
    for (const { feeds, activations } of kept) {
      freeAll(feeds);
      if (activations !== undefined) freeAll(activations);
    }
  }
}
