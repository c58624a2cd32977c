/**
 * One optimiser step's gradient, in one of three ways with one result.
 *
 * fused: the stored behaviour values serve as `now`, so coefficients are known first and one run does forward and
 * backward. staged: a forward run keeps its activations on the device, `weigh` looks at the whole mini-batch, a
 * backward run takes the activations up again. recompute: activations beyond the memory budget are computed twice.
 * Kept activations are plain device values that the forward run returns and the backward run is fed; they are freed
 * whether the step succeeds or not, so an aborted step leaves nothing behind.
 */
import { UserError } from "../../../shared/lib/errors.ts";
import { origin, type Batch } from "../../core/rollouts.ts";
import type { Channel, Stats, UpdatePlan, Weigh, Weighed } from "../../core/policy.ts";
import { perRun, type MicroBatch } from "./layout.ts";
import { passesOver } from "./layeredPasses.ts";
import { drops, gradientShapes } from "../parts.ts";
import { Accumulator, channelsOf, partsOf, touches, type Engine, type KeptRun } from "./passes.ts";
import type { Programs } from "./programs.ts";
import { floats, freeAll, prefixed, type DeviceTensor, type Tensors } from "../devices/runtime.ts";
import { checkChannel, emptyColumns, isOwnChannel, using, type ScoreColumns, type Run } from "./score.ts";

type Mode = "fused" | "staged" | "recompute";

/** Channels that this update can take gradients of; an error for others. */
function checkedGradients(engine: Engine, weighed: Weighed, batch: Batch): ScoreColumns {
  const gradients: ScoreColumns = {};
  for (const [name, column] of Object.entries(weighed.gradients) as [Channel, Float64Array | undefined][]) {
    if (column === undefined || column.every((value) => value === 0)) continue;
    checkChannel(name, partsOf(engine));
    if (!isOwnChannel(name))
      throw new UserError(`${name} belongs to another model: this update cannot move it.`, {
        code: "channel-frozen",
        action: "Return gradients for the policy's own channels only.",
      });
    if (column.length !== batch.tokens.length) {
      throw new UserError(
        `The gradient for ${name} has ${column.length} values for ${batch.tokens.length} tokens.`,
        { code: "gradient-shape" },
      );
    }
    gradients[name] = column;
  }
  return gradients;
}

export interface Gradient {
  readonly weighed: Weighed;
  readonly mode: Mode;
  /** By the folded matrices; undefined where every coefficient is zero. The caller's to free. */
  readonly folded: Record<string, DeviceTensor> | undefined;
  /** Tokens with a coefficient. */
  readonly tokens: number;
}

/** The gradient by every weight from that by the folded matrices, which it frees. */
export function unfolded(
  programs: Programs,
  weights: Tensors,
  folded: Readonly<Record<string, DeviceTensor>>,
): Record<string, Float32Array> {
  const results = programs.gradient().run({ ...prefixed("w/", weights), ...prefixed("g/", folded) });
  const values = Object.entries(results).map(([name, tensor]) => [name, floats(tensor)]);
  freeAll(results);
  freeAll(folded);
  return Object.fromEntries(values);
}

/** Stored columns as `now`, where they can be: fresh weights, every channel stored for every token that trains. */
function storedStats(batch: Batch, plan: UpdatePlan): Stats | undefined {
  if (plan.fresh !== true) return undefined;
  const stored: Partial<Record<Channel, Float64Array>> = {};
  for (const channel of plan.channels) {
    if (!isOwnChannel(channel)) continue;
    const column =
      channel === "logp" ? batch.columns.logp_old : channel === "entropy" ? batch.columns.entropy : undefined;
    if (column === undefined) return undefined;
    // A stripped context changes what the tokens are conditioned on: stored values are of the other one.
    if (batch.trainContext !== undefined) return undefined;
    // Of a prefilled token the stored value is its source's.
    for (let i = 0; i < column.length; i++)
      if (batch.mask[i] === 1 && (Number.isNaN(column[i]) || batch.origin[i] !== origin.written))
        return undefined;
    stored[channel] = column;
  }
  return stored;
}

function countTokens(gradients: ScoreColumns, tokens: number): number {
  const touched = touches(gradients);
  let count = 0;
  for (let i = 0; i < tokens; i++) if (touched(i)) count += 1;
  return count;
}

/** Keeps only the rows that a coefficient touches. */
function touchedRows(gradients: ScoreColumns): (row: MicroBatch["rows"][number]) => boolean {
  const touched = touches(gradients);
  return (row) => {
    for (let i = row.column; i < row.column + row.tokens.length - row.context; i++)
      if (touched(i)) return true;
    return false;
  };
}

export interface Cutting {
  /** Micro-batches of the rows that pass. */
  (keep?: (row: MicroBatch["rows"][number]) => boolean): MicroBatch[];
}

/** Runs of the rows that a coefficient touches. */
function weighedRuns(engine: Engine, cut: Cutting, gradients: ScoreColumns): Run[] {
  const micros = channelsOf(gradients).length === 0 ? [] : cut(touchedRows(gradients));
  return perRun(micros, engine.programs.runtime.streams, engine.pad);
}

const finished = (engine: Engine, into: Accumulator): Gradient["folded"] =>
  into.finish(gradientShapes(partsOf(engine)));

/** Coefficients are known before anything is computed. */
function fusedGradient(engine: Engine, weighed: Weighed, batch: Batch, cut: Cutting): Gradient {
  const gradients = checkedGradients(engine, weighed, batch);
  const into = new Accumulator(engine.programs);
  try {
    const runs = weighedRuns(engine, cut, gradients);
    const passes = passesOver(engine, runs, channelsOf(gradients));
    for (const run of runs) passes.fused(run, gradients, into);
    const tokens = countTokens(gradients, batch.tokens.length);
    return { weighed, mode: "fused", folded: finished(engine, into), tokens };
  } finally {
    into.free();
  }
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
  // Under dropout the weights that train are not quite those that wrote.
  const stored = drops(partsOf(engine)) ? undefined : storedStats(batch, plan);
  if (stored !== undefined) return fusedGradient(engine, weigh({ ...stored, ...others }, batch), batch, cut);
  const runs = perRun(cut(), engine.programs.runtime.streams, engine.pad);
  const own = plan.channels.filter(isOwnChannel);
  const columns = emptyColumns(batch, own);
  const passes = passesOver(engine, runs, own);
  const into = new Accumulator(engine.programs);
  const kept: KeptRun[] = [];
  try {
    let room = engine.budget;
    for (const run of runs) {
      const entry = passes.forward(run, own, columns, room);
      room -= entry.bytes;
      kept.push(entry);
    }
    const weighed = weigh({ ...columns, ...others }, batch);
    const gradients = checkedGradients(engine, weighed, batch);
    const mode: Mode = kept.some(({ again }) => again) ? "recompute" : "staged";
    if (channelsOf(gradients).length > 0)
      for (const entry of kept) {
        passes.backward(entry, gradients, into);
        entry.free();
      }
    const tokens = countTokens(gradients, batch.tokens.length);
    return { weighed, mode, folded: finished(engine, into), tokens };
  } finally {
    into.free();
    for (const entry of kept) entry.free();
  }
}

/**
 * The same where each sequence's gradient is clipped to a norm before they are added: one pass back per sequence,
 * since only then does its norm exist. `tensors` are what the optimiser moves and the frozen vectors.
 */
export function clippedGradientOf(
  engine: Engine,
  batch: Batch,
  plan: UpdatePlan,
  weigh: Weigh,
  cut: Cutting,
  others: Stats,
  tensors: Tensors,
  limit: number,
): Gradient {
  const own = plan.channels.filter(isOwnChannel);
  const columns = emptyColumns(batch, own);
  const runs = perRun(cut(), engine.programs.runtime.streams, engine.pad);
  const passes = passesOver(engine, runs, own);
  const stored = storedStats(batch, plan);
  if (stored === undefined) for (const run of runs) passes.score(run, own, columns);
  const weighed = weigh({ ...(stored ?? columns), ...others }, batch);
  const gradients = checkedGradients(engine, weighed, batch);
  const into = new Accumulator(engine.programs);
  const bound = { limit: engine.programs.runtime.upload(Float32Array.of(limit), []) };
  try {
    for (let row = 0; row < batch.rows; row++) {
      const alone = new Accumulator(engine.programs);
      const only: Cutting = (keep) => cut((one) => one.row === row && (keep === undefined || keep(one)));
      for (const run of weighedRuns(engine, only, gradients)) passes.fused(run, gradients, alone);
      const folded = finished(engine, alone);
      if (folded === undefined) continue;
      using(folded, () => {
        const feeds = { ...prefixed("w/", tensors), ...prefixed("g/", folded), ...bound };
        into.add(engine.programs.clip().run(feeds));
      });
    }
    const mode = stored === undefined ? "recompute" : "fused";
    const tokens = countTokens(gradients, batch.tokens.length);
    return { weighed, mode, folded: finished(engine, into), tokens };
  } finally {
    bound.limit.free();
    into.free();
  }
}
