/**
 * How many bytes a run will hold at its peak, from the config alone: no engine is opened and no weight is read. What
 * is cut to fit (micro-batches, kept activations, caches of rollouts in flight) is chosen here, too, so that the
 * prediction and the run agree.
 *
 * Everything is 32-bit. The constants were fitted to peaks of resident memory measured on Linux with the native
 * library (test/unit/policy/memory.test.ts holds the prediction to within a quarter).
 */
import type { OptimizerChoice } from "../core/slots/optimizer.ts";
import { ROUND, roundUp } from "./passes/layout.ts";
import { stateShapes } from "./weights/optimizerPrograms.ts";
import { WHOLE_PARAMETERS } from "./weights/optimizer.ts";
import { decays } from "./passes/trained.ts";
import { leanFloats } from "./transformer/forward.ts";
import { countOf } from "../core/ops.ts";
import { countMatching, headWidth, parameterCount, qkvWidth, type Shape } from "./transformer/weights.ts";

const MEBI = 2 ** 20;
/** Node with the engine's library loaded and its graphs built, before a model is there; WebAssembly is lighter. */
const PROCESS = { native: 400 * MEBI, wasm: 180 * MEBI } as const;
/** Caches with those of prompts that wait, and the one that is copied as it grows. */
const MOVING = 1.25;
/** Bytes a logit: itself, its exponential, its gradient. */
const LOGITS = 12;
/** Generation and update take turns, and the allocator gives the one about half of what the other left. */
const REUSED = 0.5;
/** Lanes decoded at once at most. */
export const MOST_LANES = 1024;
export const CAPACITY_STEP = 32;

/** What one model of the run asks of memory. */
export interface ModelNeeds {
  readonly shape: Shape;
  /** Extents of what is trained; none for a frozen model. */
  readonly trained: Readonly<Record<string, readonly number[]>>;
  /** Low-rank adapters train in the weights' place: no dense gradient, and references share the weights. */
  readonly adapted: boolean;
  readonly optimizer: OptimizerChoice;
  /** Copies of the weights that stay: the reference and its like. */
  readonly snapshots: number;
}
/** The largest of a run's stages. */
export interface WorkNeeds {
  /** Rollouts generated at once, before caches bound them. */
  readonly lanes: number;
  /** Rows of a mini-batch, or sequences of a supervised step. */
  readonly rows: number;
  /** Of those, rows whose present values are not known beforehand: their activations are kept for the way back. */
  readonly staged: number;
  /** Longest row, prompt and response, in tokens. */
  readonly length: number;
  /** Micro-batches computed side by side. */
  readonly streams: number;
  readonly backend: "native" | "wasm";
}

/** What bounds a run's working memory. */
export interface Budget {
  /** Most tokens of a micro-batch. */
  readonly micro_tokens: number;
  /** Most bytes of activations kept between the forward and the backward run. */
  readonly kept_bytes: number;
  /** Most bytes of activations of one run: beyond, layers one by one. */
  readonly run_bytes: number;
  /** Most floats of logits at once. */
  readonly logits: number;
  /** Most bytes of KV caches. */
  readonly cache_bytes: number;
}
/** What a run takes where memory is no concern. */
export const ample: Budget = {
  micro_tokens: 2048,
  kept_bytes: 2 ** 30,
  run_bytes: 2 ** 30,
  logits: 2 ** 25,
  cache_bytes: 2 ** 30,
};

/** Bytes by what holds them; their sum is the peak. */
export interface Prediction {
  readonly process: number;
  /** Weights, and the matrices that norms are folded into. */
  readonly weights: number;
  readonly snapshots: number;
  readonly optimizer: number;
  /** The gradient, and the next weights and state while the former are there. */
  readonly step: number;
  readonly activations: number;
  readonly logits: number;
  /** KV caches of the rollouts in flight. */
  readonly caches: number;
  /** Rollouts of earlier steps; nothing of a policy's. */
  readonly replay: number;
}
export const total = (prediction: Prediction): number =>
  Object.values(prediction).reduce((sum: number, bytes: number) => sum + bytes, 0);

const sumOf = (shapes: Readonly<Record<string, readonly number[]>>): number =>
  Object.values(shapes).reduce((sum, extents) => sum + countOf(extents), 0);

/** Above this many parameters a model holds nothing twice that can be read or computed again. */
const LEAN_PARAMETERS = 32e6;
export const isLean = (shape: Shape): boolean => parameterCount(shape) > LEAN_PARAMETERS;

const matching = (shape: Shape, names: RegExp): number => countMatching(shape, (name) => names.test(name));
/** Floats of the folded matrices that are new values; the others are the weights themselves. */
const foldedFloats = (shape: Shape): number => matching(shape, /\.(qkv|gate|up)$|^head$/);
/** Floats of the matrices that an adapter may change. */
const mergedFloats = (shape: Shape): number => matching(shape, /\.(qkv|gate|up|out|down)$/);

/** Floats of a model's weights and of what is made of them, without what trains. */
function heldFloats({ shape, trained, adapted }: ModelNeeds, { lanes }: WorkNeeds): number {
  const weights = parameterCount(shape);
  const lean = isLean(shape);
  // Under an adapter the base is held folded; a large one's sums with the adapter are there while it generates.
  if (adapted) return weights + (lean && lanes === 0 ? 0 : mergedFloats(shape));
  const frozen = Object.keys(trained).length === 0;
  return weights + (lean && frozen ? 0 : foldedFloats(shape));
}

/** Floats that the forward pass keeps for each token of a row of this length, the head's logits apart. */
function activationFloats(shape: Shape, length: number): number {
  const { width, hidden, heads, layers } = shape;
  const attention = qkvWidth(shape) + 2 * heads * headWidth(shape) + heads * length;
  return layers * (3 * width + attention + 5 * hidden) + 2 * width;
}

/** Least tokens of a micro-batch that are worth the reading of all weights. */
const LEAST_MICRO = 256;
/**
 * Most tokens of a micro-batch of a large model with rows of this length: what its layers keep takes half of what a run
 * may hold, in addition to what is computed at the time.
 */
export function leanMicroTokens(
  shape: Shape,
  length: number,
  { micro_tokens, run_bytes }: Pick<Budget, "micro_tokens" | "run_bytes">,
): number {
  const each = 4 * shape.layers * leanFloats(shape, roundUp(length, ROUND));
  return Math.min(micro_tokens, Math.max(LEAST_MICRO, Math.floor(run_bytes / 2 / each)));
}

/** Bytes of one position of one lane, over all layers. */
export const positionBytes = (shape: Shape): number =>
  4 * 2 * shape.layers * shape.kv_heads * headWidth(shape);

function optimizerBytes({ shape, trained, adapted, optimizer }: ModelNeeds): { state: number; step: number } {
  const [count, state] = [sumOf(trained), sumOf(stateShapes(optimizer.rule, trained))];
  if (count === 0) return { state: 0, step: 0 };
  // Tied embeddings have a gradient as such and one as the head. Two runs' gradients meet in a third.
  const gradient = count + (shape.tied && !adapted ? shape.vocabulary * shape.width : 0);
  const matrices = Object.entries(trained).filter(([, extents]) => decays(extents));
  const largest = Math.max(0, ...matrices.map(([, extents]) => countOf(extents)));
  const next = count <= WHOLE_PARAMETERS ? count + state : 4 * largest + count;
  // A small model's next weights are folded before the former are let go.
  const folded = isLean(shape) ? 0 : adapted ? mergedFloats(shape) : foldedFloats(shape);
  return { state: 4 * state, step: 4 * (2 * gradient + next + folded) };
}

type Standing = Pick<Prediction, "process" | "weights" | "snapshots" | "optimizer" | "step">;

/** What is held whatever the budget. */
function standing(models: readonly ModelNeeds[], work: WorkNeeds): Standing {
  const sum = (bytes: (model: ModelNeeds) => number): number =>
    models.reduce((all, model) => all + bytes(model), 0);
  const held = (model: ModelNeeds): number => 4 * heldFloats(model, work);
  const optimizers = models.map(optimizerBytes);
  return {
    process: PROCESS[work.backend],
    weights: sum(held),
    snapshots: sum((model) => model.snapshots * (model.adapted ? 4 * sumOf(model.trained) : held(model))),
    optimizer: optimizers.reduce((all, { state }) => all + state, 0),
    // Models learn one after the other, and what one leaves the next one takes.
    step: Math.max(0, ...optimizers.map(({ step }) => step)),
  };
}

/** The peak under a budget, part by part. */
export const predict = (
  models: readonly ModelNeeds[],
  work: WorkNeeds,
  budget: Budget,
  held: Standing = standing(models, work),
): Prediction => ({ ...held, ...busiest(models, work, budget), replay: 0 });

/** What passes hold, of the policy's own or of a model that learns or scores: they take turns. */
function busiest(
  [policy, ...others]: readonly ModelNeeds[],
  work: WorkNeeds,
  budget: Budget,
): Pick<Prediction, "activations" | "logits" | "caches"> {
  const own = working(policy?.shape, work, budget);
  const long = roundUp(work.length, ROUND);
  const sizes = others.map((model) => judging(model, work, budget, long));
  const largest = sizes.reduce((most, one) => (sum(one) > sum(most) ? one : most), own);
  return { ...own, activations: largest.activations, logits: largest.logits };
}
const sum = ({ activations, logits }: { readonly activations: number; readonly logits: number }): number =>
  activations + logits;

/** A model other than the policy learns from all of a step's rollouts at once; a frozen one looks at them. */
function judging(
  { shape, trained }: ModelNeeds,
  work: WorkNeeds,
  budget: Budget,
  length: number,
): { activations: number; logits: number } {
  const rows = work.lanes;
  if (Object.keys(trained).length > 0)
    return updating(shape, { ...work, rows, staged: rows }, budget, length);
  const run = Math.min(rows * length, Math.max(budget.micro_tokens, length) * work.streams);
  return {
    activations: 4 * run * activationFloats({ ...shape, layers: 1 }, length),
    logits: LOGITS * shape.vocabulary * Math.min(run, Math.max(1, budget.logits / shape.vocabulary)),
  };
}

/** What the policy's own passes hold: while it generates, and while it updates. */
function working(
  shape: Shape | undefined,
  work: WorkNeeds,
  budget: Budget,
): Pick<Prediction, "activations" | "logits" | "caches"> {
  if (shape === undefined) return { activations: 0, logits: 0, caches: 0 };
  const long = roundUp(work.length, ROUND);
  const update = updating(shape, work, budget, long);
  const generate = generating(shape, work, budget, long);
  const larger = update.activations + update.logits >= generate.caches + generate.logits;
  const [first, second] = larger ? [1, REUSED] : [REUSED, 1];
  return {
    activations: first * update.activations,
    logits: first * update.logits + second * generate.logits,
    caches: second * generate.caches,
  };
}
function updating(
  shape: Shape,
  { rows, staged, streams }: WorkNeeds,
  { micro_tokens, kept_bytes, run_bytes, logits }: Budget,
  length: number,
): { activations: number; logits: number } {
  const lean = isLean(shape);
  const one = 4 * activationFloats({ ...shape, layers: 1 }, length);
  const each = lean
    ? 4 * shape.layers * leanFloats(shape, length) + one
    : 4 * activationFloats(shape, length);
  const micro = lean ? leanMicroTokens(shape, length, { micro_tokens, run_bytes }) : micro_tokens;
  const tokens = rows * length;
  const run = Math.min(tokens, Math.max(micro, length) * streams);
  // Layer by layer, the layers' inputs and one layer's activations are the least there is.
  const least = 4 * shape.layers * shape.width + one;
  const whole = Math.min(run * each, Math.max(run_bytes, run * least));
  const staging = staged * length * each;
  return {
    // The way back frees a layer's activations about as fast as it makes values of its own. Rows that are computed
    // twice have theirs in addition to those that are kept.
    activations: staging <= kept_bytes ? Math.max(staging, whole) : kept_bytes + whole,
    logits: LOGITS * shape.vocabulary * Math.min(run, Math.max(1, logits / shape.vocabulary)),
  };
}
function generating(
  shape: Shape,
  { lanes }: WorkNeeds,
  { cache_bytes }: Budget,
  length: number,
): { caches: number; logits: number } {
  if (lanes === 0) return { caches: 0, logits: 0 };
  const one = positionBytes(shape) * roundUp(length, CAPACITY_STEP);
  const together = Math.max(1, Math.min(lanes, MOST_LANES, Math.floor(cache_bytes / one)));
  return { caches: MOVING * together * one, logits: LOGITS * shape.vocabulary * together };
}

/** Budgets from ample to tight: first what is kept shrinks, then what is computed at once. */
function* budgets(fixed: Partial<Budget>): Generator<Budget> {
  for (let step = 0; step <= 48; step++) {
    const shrink = 2 ** (step / 4);
    const part = (of: number, least: number): number => Math.max(least, Math.floor(of / shrink));
    yield {
      micro_tokens: Math.max(128, Math.floor(ample.micro_tokens / Math.max(1, shrink / 4))),
      kept_bytes: part(ample.kept_bytes, 0),
      run_bytes: part(ample.run_bytes, 2 ** 24),
      logits: part(ample.logits, 2 ** 20),
      cache_bytes: part(ample.cache_bytes, 2 ** 20),
      ...fixed,
    };
  }
}

export interface Plan {
  readonly budget: Budget;
  readonly prediction: Prediction;
  /** Bytes at the peak. */
  readonly peak: number;
  readonly fits: boolean;
}

/**
 * The most generous budget whose prediction stays within the limit; where none does, the tightest.
 * @param fixed what the config itself says, which is not touched
 */
export function planWithin(
  models: readonly ModelNeeds[],
  work: WorkNeeds,
  limit: number,
  fixed: Partial<Budget> = {},
): Plan {
  let last: Plan | undefined;
  const held = standing(models, work);
  for (const budget of budgets(fixed)) {
    const prediction = predict(models, work, budget, held);
    const peak = total(prediction);
    last = { budget, prediction, peak, fits: peak <= limit };
    if (last.fits) return last;
  }
  if (last === undefined) throw new Error("internal: there is no budget");
  return last;
}
