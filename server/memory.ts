/** A run's memory before it starts: what it needs at its peak, what it may take, and what to lower where that is less. */
import { availableParallelism, totalmem } from "node:os";
import { UserError, messageOf } from "../shared/errors.ts";
import { modelsRead } from "./algorithm/modelsRead.ts";
import { contextOf, create } from "./algorithm.ts";
import { sizeText, writeMemoryNote } from "./memoryNote.ts";
import { longestPrompt } from "./config/rules/contextLength.ts";
import type { RunConfig, StageConfig } from "./config/resolved.ts";
import { describeModel, threadSettings } from "./policy/index.ts";
import {
  planWithin,
  total,
  type Budget,
  type ModelNeeds,
  type Plan,
  type Prediction,
  type WorkNeeds,
} from "./policy/memory.ts";
import { trainedShapes } from "./policy/parts.ts";
import { parameterCount, type Shape } from "./policy/transformer/weights.ts";
import { randomStream } from "./random.ts";

/** Of the machine's memory, or of what its container leaves, a run takes this share where `engine.memory` says nothing. */
const SHARE = 0.8;
/** Longest prompt of a file nobody has read yet, in tokens. */
const UNREAD_PROMPT = 256;
const MOST_STREAMS = 8;

/** Bytes that this process may have: the machine's, or less in a container. */
export function machineMemory(): number {
  const bound = process.constrainedMemory();
  return bound > 0 ? Math.min(bound, totalmem()) : totalmem();
}

export interface Limit {
  readonly bytes: number;
  /** Who says so, as the end of a sentence. */
  readonly because: string;
}
export function limitOf({ engine }: Pick<RunConfig, "engine">): Limit {
  if (engine.memory !== undefined) return { bytes: engine.memory, because: "engine.memory" };
  const whole = machineMemory();
  return { bytes: SHARE * whole, because: `${100 * SHARE} % of this machine's ${sizeText(whole)}` };
}

const usesReference = ({ stages }: RunConfig): boolean =>
  stages.some(({ body }) => modelsRead(body).includes("reference"));

/** Averages and other copies that follow a model. */
const copiesOf = ({ models }: RunConfig, name: string): number =>
  models.filter((model) => model.kind === "copy" && model.of === name).length;

function optimizerOf({ body }: Pick<StageConfig, "body">, seed: number): ModelNeeds["optimizer"] {
  const context = contextOf(body, { random: randomStream(seed, "optimizer") });
  return create(body.update.optimizer, context);
}

function policyNeeds(config: RunConfig, shape: Shape): ModelNeeds {
  const { heads = [], adapter } = config.model;
  const stages = config.stages.length > 0 ? config.stages : [{ body: config.top }];
  const optimizers = stages.map((stage) => optimizerOf(stage, config.seed));
  const kept = (optimizer: ModelNeeds["optimizer"]): number =>
    Object.keys(optimizer.rule.state([2, 2])).length;
  return {
    shape,
    trained: trainedShapes({ shape, heads, adapter }),
    adapted: adapter !== undefined,
    optimizer: optimizers.reduce((most, one) => (kept(one) > kept(most) ? one : most)),
    snapshots: (usesReference(config) ? 1 : 0) + copiesOf(config, "policy"),
  };
}

/** The models beside the policy; a frozen one has weights and nothing else. */
function otherNeeds(config: RunConfig): ModelNeeds[] {
  return config.models.flatMap((one) => {
    if (one.kind !== "opened") return [];
    const { shape } = describeModel(one.model);
    const { heads = [], adapter } = one.model;
    const context = contextOf(config.top, { random: randomStream(config.seed, "optimizer") });
    return [
      {
        shape,
        trained: one.optimizer === undefined ? {} : trainedShapes({ shape, heads, adapter }),
        adapted: adapter !== undefined,
        optimizer: create(one.optimizer ?? config.top.update.optimizer, context),
        snapshots: copiesOf(config, one.name),
      },
    ];
  });
}

/** Longest prompt and response of a stage together, in tokens. */
function rowLength({ body }: StageConfig, context: number): number {
  const prompts = body.tasks.map((task) =>
    task.source.declaration.name === "dataset" && task.source.params["max_prompt"] === undefined
      ? UNREAD_PROMPT
      : longestPrompt(task),
  );
  return Math.min(context, Math.max(1, ...prompts) + body.rollout.max_tokens);
}

function workNeeds(config: RunConfig, shape: Shape): WorkNeeds {
  const threads = config.engine.threads ?? availableParallelism();
  const native = config.engine.backend !== "wasm";
  // One thread an operation means: one stream a thread.
  const { TF_NUM_INTRAOP_THREADS } = threadSettings(parameterCount(shape), threads);
  const rollouts = ({ rollout }: StageConfig["body"]): number => rollout.prompts * rollout.group;
  const rows = (stage: StageConfig): number =>
    stage.kind === "sft"
      ? stage.batch
      : Math.min(stage.body.update.mini_batch ?? Number.POSITIVE_INFINITY, rollouts(stage.body));
  // The first update on fresh rollouts takes their stored values; later ones compute them.
  const staged = (stage: StageConfig): number =>
    stage.kind === "sft" || stage.body.update.epochs > 1 || rows(stage) < rollouts(stage.body)
      ? rows(stage)
      : 0;
  const lanes = config.stages.filter(({ kind }) => kind === "rl").map(({ body }) => rollouts(body));
  return {
    lanes: Math.max(0, ...lanes),
    rows: Math.max(1, ...config.stages.map(rows)),
    staged: Math.max(0, ...config.stages.map(staged)),
    length: Math.max(1, ...config.stages.map((stage) => rowLength(stage, shape.context))),
    streams: native && TF_NUM_INTRAOP_THREADS === "1" ? Math.min(threads, MOST_STREAMS) : 1,
    backend: native ? "native" : "wasm",
  };
}

/** What the config itself decides. */
function fixedBudget({ stages }: RunConfig): Partial<Budget> {
  const written = stages.flatMap(({ body }) => body.update.micro_tokens ?? []);
  return written.length === 0 ? {} : { micro_tokens: Math.max(...written) };
}

export interface MemoryPlan extends Plan {
  readonly limit: Limit;
}

/**
 * What the run will hold at its peak, with the budget that keeps it within its limit where one does.
 * @throws UserError where the model cannot be read
 */
export function planMemory(config: RunConfig): MemoryPlan {
  const known = planned.get(config);
  if (known !== undefined) return known;
  const limit = limitOf(config);
  const plan = { ...planFor(config, limit.bytes), limit };
  planned.set(config, plan);
  return plan;
}
const planned = new WeakMap<RunConfig, MemoryPlan>();

function planFor(config: RunConfig, limit: number): Plan {
  const { shape } = describeModel(config.model);
  const models = [policyNeeds(config, shape), ...otherNeeds(config)];
  return planWithin(models, workNeeds(config, shape), limit, fixedBudget(config));
}

/** `process 380 MiB + weights 1.2 GiB + …`, the largest first. */
export const arithmetic = (prediction: Prediction): string =>
  Object.entries(prediction)
    .filter(([, bytes]: [string, number]) => bytes >= 2 ** 20)
    .sort(([, a]: [string, number], [, b]: [string, number]) => b - a)
    .map(([name, bytes]: [string, number]) => `${name} ${sizeText(bytes)}`)
    .join(" + ");

/** One change of a config that lowers its memory. */
interface Remedy {
  readonly key: string;
  readonly now: string | number;
  /** Values to try, the mildest first. */
  readonly values: readonly (string | number)[];
  with(value: string | number): RunConfig;
}
const halves = (from: number, least: number): number[] => {
  const found: number[] = [];
  for (let value = Math.floor(from / 2); value >= least; value = Math.floor(value / 2)) found.push(value);
  return found;
};
const everyStage = (
  config: RunConfig,
  change: (body: StageConfig["body"]) => StageConfig["body"],
): RunConfig => ({
  ...config,
  stages: config.stages.map((stage) => ({ ...stage, body: change(stage.body) })),
});

function remedies(config: RunConfig): Remedy[] {
  const found: Remedy[] = [];
  const micro = fixedBudget(config).micro_tokens;
  if (micro !== undefined)
    found.push({
      key: "update.micro_tokens",
      now: micro,
      values: halves(micro, 64),
      with: (value) =>
        everyStage(config, (body) => ({ ...body, update: { ...body.update, micro_tokens: Number(value) } })),
    });
  const longest = Math.max(...config.stages.map(({ body }) => body.rollout.max_tokens));
  found.push({
    key: "rollout.max_tokens",
    now: longest,
    values: halves(longest, 16),
    with: (value) =>
      everyStage(config, (body) => ({
        ...body,
        rollout: { ...body.rollout, max_tokens: Math.min(body.rollout.max_tokens, Number(value)) },
      })),
  });
  if (config.model.base === "tiny") found.push(...smaller(config));
  return found;
}
/** Sizes of a tiny model that keep what its heads ask of the width. */
function smaller(config: RunConfig): Remedy[] {
  const { size } = config.model;
  const sized = (more: Partial<typeof size>): RunConfig => ({
    ...config,
    model: { ...config.model, size: { ...size, ...more } },
  });
  return [
    {
      key: "model.layers",
      now: size.layers,
      values: halves(size.layers, 1),
      with: (value) => sized({ layers: Number(value) }),
    },
    {
      key: "model.width",
      now: size.width,
      values: halves(size.width / (2 * size.heads), 1).map((pairs) => pairs * 2 * size.heads),
      with: (value) => sized({ width: Number(value) }),
    },
  ];
}

/** The number to lower and a value that fits, as an imperative; undefined where no single one does. */
function remedyFor(config: RunConfig, limit: number): string | undefined {
  for (const remedy of remedies(config))
    for (const value of remedy.values) {
      const plan = planFor(remedy.with(value), limit);
      if (plan.fits)
        return `Lower ${remedy.key} from ${remedy.now} to ${value}: about ${sizeText(plan.peak)} at the peak.`;
    }
  return undefined;
}

/** What is left to say where no single number is enough. */
const hopeless = ({ process: alone }: Prediction, { bytes }: Limit): string =>
  alone >= 0.9 * bytes
    ? `The process alone takes ${sizeText(alone)}, whatever the model.`
    : "Use a smaller model, or one with `update.optimizer: { use: sgd }`.";

/**
 * The plan of a run that may start.
 * @throws UserError with the arithmetic and the number to lower where it needs more than it may take
 */
export function admitMemory(config: RunConfig): MemoryPlan {
  const plan = planMemory(config);
  if (plan.fits) return plan;
  const { limit, peak, prediction } = plan;
  const needed = Math.ceil(peak / 2 ** 20);
  const remedy = remedyFor(config, limit.bytes) ?? hopeless(prediction, limit);
  throw new UserError(
    `The run needs about ${sizeText(peak)} at its peak, however tightly it is cut, and may take ${sizeText(limit.bytes)} (${limit.because}): ${arithmetic(prediction)}.`,
    {
      file: config.file,
      code: "memory",
      action: `${remedy} Or, on a machine that has it, set engine.memory to ${needed}MiB.`,
    },
  );
}

/** What to lower after the memory has run out all the same: the largest part that a number decides. */
export function memoryAdvice(config: RunConfig): string {
  const { prediction, budget } = planMemory(config);
  const body = config.stages.find(({ kind }) => kind === "rl")?.body ?? config.top;
  const lower: readonly (readonly [number, string])[] = [
    [
      prediction.activations + prediction.logits,
      `Lower update.micro_tokens to ${Math.max(64, Math.floor(budget.micro_tokens / 2))} (${budget.micro_tokens} now)`,
    ],
    [
      prediction.caches,
      `Lower rollout.prompts to ${Math.max(1, Math.floor(body.rollout.prompts / 2))} (${body.rollout.prompts} now)`,
    ],
    [
      prediction.optimizer + prediction.step,
      "Choose an optimiser that keeps less (update.optimizer: { use: adafactor })",
    ],
  ];
  const [, largest] = lower.reduce((most, one) => (one[0] > most[0] ? one : most));
  const allowed = Math.floor((0.8 * total(prediction)) / 2 ** 20);
  return `${largest}, or set engine.memory to ${allowed}MiB, which cuts the work finer by itself.`;
}

/** What TensorFlow, Node and WebAssembly say when an allocation fails. */
export const isOutOfMemory = (error: unknown): boolean =>
  /RESOURCE_EXHAUSTED|ResourceExhausted|\bOOM\b|out of memory|bad_alloc|allocation failed|Cannot allocate memory/i.test(
    messageOf(error),
  );

/** Left beside the run for whoever finds its process gone. */
export function keepMemoryNote(runFolder: string, config: RunConfig): void {
  const { peak, limit } = planMemory(config);
  writeMemoryNote(runFolder, {
    predicted_bytes: Math.round(peak),
    limit_bytes: Math.round(limit.bytes),
    advice: memoryAdvice(config),
  });
}
