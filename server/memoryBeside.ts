/** Bytes that a run holds beside its language models: perceptrons, and what penalties remember of lanes. */
import { contextOf, create } from "./algorithm.ts";
import type { PerceptronModelConfig, RunConfig } from "./config/resolved.ts";
import type { Prediction } from "./policy/memory.ts";
import { stateShapes } from "./policy/optimizerPrograms.ts";
import { perceptronWeights } from "./policy/perceptron/index.ts";
import { countOf } from "./policy/transformer/weights.ts";
import { randomStream } from "./random.ts";

export type Beside = Pick<Prediction, "weights" | "snapshots" | "optimizer" | "step" | "caches">;

const sumOf = (shapes: Readonly<Record<string, readonly number[]>>): number =>
  Object.values(shapes).reduce((sum, extents) => sum + countOf(extents), 0);

function perceptronBytes(
  config: RunConfig,
  { name, shape, optimizer }: PerceptronModelConfig,
): Omit<Beside, "caches"> {
  const shapes = perceptronWeights(shape);
  const own = 4 * sumOf(shapes);
  const copies = config.models.filter((one) => one.kind === "copy" && one.of === name).length;
  if (optimizer === undefined) return { weights: own, snapshots: copies * own, optimizer: 0, step: 0 };
  const random = randomStream(config.seed, "optimizer", name);
  const { rule } = create(optimizer, contextOf(config.top, { random }));
  const state = 4 * sumOf(stateShapes(rule, shapes));
  // The gradient, and the next weights and state while the former are there.
  return { weights: own, snapshots: copies * own, optimizer: state, step: 2 * own + state };
}

/** Marks of the stage with the most: a number a token of the vocabulary and lane, for each kind of penalty. */
function markBytes({ stages }: RunConfig, vocabulary: number): number {
  const marks = stages.map(({ kind, body: { rollout } }) => {
    const { repetition_penalty, presence_penalty, frequency_penalty, prompts, group } = rollout;
    const kinds = [repetition_penalty !== 1, presence_penalty !== 0 || frequency_penalty !== 0];
    const lanes = Math.min(rollout.lanes ?? Number.POSITIVE_INFINITY, prompts * group);
    return kind === "rl" ? lanes * kinds.filter(Boolean).length : 0;
  });
  return 4 * vocabulary * Math.max(0, ...marks);
}

/** @param vocabulary the policy's */
export function besideNeeds(config: RunConfig, vocabulary: number): Beside {
  const needs = config.models.flatMap((one) =>
    one.kind === "perceptron" ? [perceptronBytes(config, one)] : [],
  );
  const sum = (name: keyof (typeof needs)[number]): number => needs.reduce((all, one) => all + one[name], 0);
  return {
    weights: sum("weights"),
    snapshots: sum("snapshots"),
    optimizer: sum("optimizer"),
    step: sum("step"),
    caches: markBytes(config, vocabulary),
  };
}
