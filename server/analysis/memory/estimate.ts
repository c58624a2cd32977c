/** A run's memory before it starts: what it needs at its peak, what it may take, and what to lower where that is less. */
import { availableParallelism, totalmem } from "node:os";
import { UserError, messageOf } from "../../../shared/lib/errors.ts";
import { modelsRead, objectiveNeeds } from "../../algorithm/loss/modelsRead.ts";
import { contextOf } from "../../algorithm/algorithm.ts";
import { create } from "../../core/create.ts";
import { extraNeeds } from "./extras.ts";
import { sizeText, writeMemoryNote } from "./note.ts";
import { fixedBudget, keptLess, remedies } from "./remedies.ts";
import { ofPairs, ownRows, rollouts, trainedRows } from "./rows.ts";
import { longestPrompt } from "../../rules/models/contextLength.ts";
import { perObject } from "../../lib/perObject.ts";
import { hasWholeBudget } from "../../core/config/branchFacts.ts";
import { askedBeyond, longestEpisode } from "../../core/config/shapeFacts.ts";
import { givenTrains, helps } from "../../core/config/guidanceFacts.ts";
import { comparesWhole } from "../../core/config/klFacts.ts";
import type { RunConfig } from "../../core/config/runConfig.ts";
import type { StageConfig } from "../../core/config/stageConfig.ts";
import { describeShape, MOST_STREAMS, threadSettings } from "../../engine/index.ts";
import {
  planWithin,
  total,
  type ModelNeeds,
  type Plan,
  type Prediction,
  type WorkNeeds,
} from "../../engine/memory.ts";
import { trainedShapes } from "../../engine/parts.ts";
import { parameterCount, type Shape } from "../../engine/transformer/weights.ts";
import { randomStream } from "../../lib/random.ts";

/** Of the machine's memory, or of what its container leaves, a run takes this share where `engine.memory` says nothing. */
const SHARE = 0.8;
/** Longest prompt of a file that is not read yet, in tokens. */
const UNREAD_PROMPT = 256;

/** Bytes that this process may have: the machine's, or less in a container. */
function machineMemory(): number {
  const bound = process.constrainedMemory();
  return bound > 0 ? Math.min(bound, totalmem()) : totalmem();
}

export interface Limit {
  readonly bytes: number;
  /** Who says so, as the end of a sentence. */
  readonly because: string;
}
export function limitOf({ engine }: { readonly engine: Pick<RunConfig["engine"], "memory"> }): Limit {
  if (engine.memory !== undefined) return { bytes: engine.memory, because: "engine.memory" };
  const whole = machineMemory();
  return { bytes: SHARE * whole, because: `${100 * SHARE} % of this machine's ${sizeText(whole)}` };
}

const usesReference = ({ stages }: RunConfig): boolean =>
  stages.some(({ body }) => modelsRead(body).includes("reference"));

/** Averages and other copies that follow a model. */
const copiesOf = ({ models }: RunConfig, name: string): number =>
  models.filter((model) => model.kind === "copy" && model.of === name).length;

function policyNeeds(config: RunConfig, shape: Shape): ModelNeeds {
  const { heads = [], adapter } = config.model;
  const stages = config.stages.length > 0 ? config.stages : [{ body: config.top }];
  const random = randomStream(config.seed, "optimizer");
  const optimizers = stages.map(({ body }) => create(body.update.optimizer, contextOf(body, { random })));
  const kept = (optimizer: ModelNeeds["optimizer"]): number =>
    Object.keys(optimizer.rule.state([2, 2])).length;
  return {
    shape,
    trained: trainedShapes({ shape, heads, adapter }),
    adapted: adapter !== undefined,
    optimizer: optimizers.reduce((most, one) => (kept(one) > kept(most) ? one : most)),
    snapshots: (usesReference(config) ? 1 : 0) + copiesOf(config, "policy") + keptWeights(config),
  };
}

/** Weights of the policy that are kept under a name: snapshots, and what a stage left that a later one merges. */
function keptWeights({ stages }: RunConfig): number {
  const names = stages.flatMap(({ merge, on_enter }) => [
    ...[...merge, ...on_enter.merge].flatMap(({ source }) =>
      source.kind === "stage" ? [`stage ${source.name}`] : [],
    ),
    ...(on_enter.snapshot === undefined ? [] : [`snapshot ${on_enter.snapshot}`]),
  ]);
  return new Set(names).size;
}

/** The models other than the policy; a frozen one has weights and nothing else. */
export function otherNeeds(config: RunConfig): ModelNeeds[] {
  return config.models.flatMap((one) => {
    if (one.kind !== "opened") return [];
    const shape = describeShape(one.model);
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
  // A branch may take over all but one token of a response, and write another.
  const response = longestEpisode(body.rollout, context) * (hasWholeBudget(body.rollout) ? 2 : 1);
  return Math.min(context, Math.max(1, ...prompts) + askedBeyond(body.rollout) + response);
}

/** Whether nothing in a stage trains with another prompt than it was generated from, or was generated by another policy. */
const ownWords = ({ guidance }: StageConfig["body"]): boolean =>
  !helps(guidance) || (guidance.context === "keep" && !givenTrains(guidance));

/** Whether a step has one update, of values that generation left: no head's, and of no rows but its own. */
const takesStored = (body: StageConfig["body"]): boolean =>
  body.update.epochs === 1 &&
  ownWords(body) &&
  body.kl.every((entry) => entry.place === "reward" || !comparesWhole(entry)) &&
  body.replay.updates === 1 &&
  body.replay.source.declaration.name === "none" &&
  body.auxiliary.every(({ place, loss }) => place === "alone" || loss.declaration.name === "learner") &&
  objectiveNeeds(body).channels.every((channel) => channel === "logp" || channel === "entropy");

function workNeeds(config: RunConfig, shape: Shape): WorkNeeds {
  const threads = config.engine.threads ?? availableParallelism();
  const native = config.engine.backend !== "wasm";
  // One thread an operation means: one stream a thread.
  const { TF_NUM_INTRAOP_THREADS } = threadSettings(parameterCount(shape), threads);
  const rows = (stage: StageConfig): number => ownRows(stage) ?? trainedRows(stage.body).most;
  // The first update on fresh rollouts takes their stored values; later ones, and other rows', compute them.
  const staged = (stage: StageConfig): number =>
    ownRows(stage) !== undefined || rows(stage) < rollouts(stage.body) || !takesStored(stage.body)
      ? rows(stage)
      : trainedRows(stage.body).alone;
  const lanes = config.stages
    .filter((stage) => stage.kind === "rl" || (stage.pairs === "rollouts" && ofPairs(stage)))
    .map(({ body }) => rollouts(body));
  return {
    lanes: Math.max(0, ...lanes),
    rows: Math.max(1, ...config.stages.map(rows)),
    staged: Math.max(0, ...config.stages.map(staged)),
    length: Math.max(1, ...config.stages.map((stage) => rowLength(stage, shape.context))),
    streams: native && TF_NUM_INTRAOP_THREADS === "1" ? Math.min(threads, MOST_STREAMS) : 1,
    backend: native ? "native" : "wasm",
  };
}

interface MemoryPlan extends Plan {
  readonly limit: Limit;
}

/**
 * What the run will hold at its peak, with the budget that keeps it within its limit where one does.
 * @throws UserError where the model cannot be read
 */
export const planMemory = perObject((config: RunConfig): MemoryPlan => {
  const limit = limitOf(config);
  return { ...planFor(config, limit.bytes), limit };
});

function planFor(config: RunConfig, limit: number): Plan {
  const shape = describeShape(config.model);
  const policy = policyNeeds(config, shape);
  const work = workNeeds(config, shape);
  const { vocabulary } = shape;
  const extra = extraNeeds(config, { vocabulary, trained: policy.trained, length: work.length });
  const bytes = Object.values(extra).reduce((sum: number, one: number) => sum + one, 0);
  const plan = planWithin([policy, ...otherNeeds(config)], work, limit - bytes, fixedBudget(config));
  const { prediction } = plan;
  const whole: Prediction = {
    ...prediction,
    weights: prediction.weights + extra.weights,
    snapshots: prediction.snapshots + extra.snapshots,
    optimizer: prediction.optimizer + extra.optimizer,
    step: prediction.step + extra.step,
    caches: prediction.caches + extra.caches,
    replay: extra.replay,
  };
  return { ...plan, prediction: whole, peak: plan.peak + bytes };
}

/** `process 380 MiB + weights 1.2 GiB + …`, the largest first. */
export const arithmetic = (prediction: Prediction): string =>
  Object.entries(prediction)
    .filter(([, bytes]: [string, number]) => bytes >= 2 ** 20)
    .sort(([, a]: [string, number], [, b]: [string, number]) => b - a)
    .map(([name, bytes]: [string, number]) => `${name} ${sizeText(bytes)}`)
    .join(" + ");

/** The number to lower and a value that fits, as an imperative; undefined where no single one does. */
function remedyFor(config: RunConfig, limit: number): string | undefined {
  for (const remedy of remedies(config))
    for (const value of remedy.values) {
      const plan = planFor(remedy.with(value), limit);
      if (plan.fits)
        return `Lower ${remedy.key} from ${remedy.now} to ${value}, for a peak of about ${sizeText(plan.peak)}.`;
    }
  return undefined;
}

/** What is left to say where no single number is enough. */
const hopeless = ({ process: alone }: Prediction, { bytes }: Limit): string =>
  alone >= 0.9 * bytes
    ? `The process alone uses ${sizeText(alone)}, whatever the model.`
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
    `The run needs about ${sizeText(peak)} at its peak even with the smallest micro-batches, but may use only ${sizeText(limit.bytes)} (${limit.because}): ${arithmetic(prediction)}.`,
    {
      file: config.file,
      code: "memory",
      action: `${remedy} Or set engine.memory to ${needed}MiB on a machine that has it.`,
    },
  );
}

/** Of the limit, above this share a run that fits may run out of memory all the same. */
const NEAR = 0.9;

/** What to say of a run that fits, but hardly; undefined: there is room. */
export function nearLimit(config: RunConfig, { limit, peak: planned }: MemoryPlan): string | undefined {
  if (planned <= NEAR * limit.bytes) return undefined;
  const { fits, peak } = planFor(config, NEAR * limit.bytes);
  if (fits) return undefined;
  const remedy = remedyFor(config, NEAR * limit.bytes);
  return `Even with the smallest micro-batches the run needs about ${sizeText(peak)} of the ${sizeText(limit.bytes)} that it may use (${limit.because}), and the prediction may be off by more than the difference.${remedy === undefined ? "" : ` ${remedy}`}`;
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
    ...keptLess(config)
      .slice(0, 1)
      .map(({ key, now }): [number, string] => [
        prediction.replay,
        `Lower ${key} to ${Math.max(64, Math.floor(Number(now) / 2))} (${now} now)`,
      ]),
    [
      prediction.optimizer + prediction.step,
      "Choose an optimiser with less state (update.optimizer: { use: adafactor })",
    ],
  ];
  const [, largest] = lower.reduce((most, one) => (one[0] > most[0] ? one : most));
  const allowed = Math.floor((0.8 * total(prediction)) / 2 ** 20);
  return `${largest}, or set engine.memory to ${allowed}MiB, which splits the work into smaller pieces by itself.`;
}

/** What TensorFlow, Node and WebAssembly say when an allocation fails. */
export const isOutOfMemory = (error: unknown): boolean =>
  /RESOURCE_EXHAUSTED|ResourceExhausted|\bOOM\b|out of memory|bad_alloc|allocation failed|Cannot allocate memory/i.test(
    messageOf(error),
  );

/** Left in the run's folder for whoever finds its process gone. */
export function keepMemoryNote(runFolder: string, config: RunConfig): void {
  const { peak, limit } = planMemory(config);
  writeMemoryNote(runFolder, {
    predicted_bytes: Math.round(peak),
    limit_bytes: Math.round(limit.bytes),
    advice: memoryAdvice(config),
  });
}
