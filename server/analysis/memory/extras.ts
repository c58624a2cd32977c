/**
 * Bytes that a run holds in addition to its language models: perceptrons, optimisers of auxiliary losses, what penalties remember
 * of lanes, and what replay and auxiliary losses keep of rollouts.
 */
import { existsSync, statSync } from "node:fs";
import { contextOf } from "../../algorithm/algorithm.ts";
import { create } from "../../core/create.ts";
import type { RunConfig } from "../../core/config/runConfig.ts";
import type { AuxiliaryConfig, StageBody } from "../../core/config/resolved.ts";
import { longestEpisode } from "../../core/config/shapeFacts.ts";
import type { Prediction } from "../../engine/memory.ts";
import { stateShapes } from "../../engine/weights/optimizerPrograms.ts";
import { perceptronWeights } from "../../engine/perceptron/index.ts";
import { countOf } from "../../core/ops.ts";
import { randomStream } from "../../lib/random.ts";
import type { CreateContext } from "../../core/declaration.ts";
import type { PerceptronModelConfig } from "../../core/blocks/models.ts";

type OtherBytes = Pick<Prediction, "weights" | "snapshots" | "optimizer" | "step" | "caches" | "replay">;

/** Of the policy and its work. */
export interface Around {
  readonly vocabulary: number;
  /** Extents of what trains. */
  readonly trained: Readonly<Record<string, readonly number[]>>;
  /** Longest prompt and response together, in tokens. */
  readonly length: number;
}

const sumOf = (shapes: Readonly<Record<string, readonly number[]>>): number =>
  Object.values(shapes).reduce((sum, extents) => sum + countOf(extents), 0);

function perceptronBytes(
  config: RunConfig,
  { name, shape, optimizer }: PerceptronModelConfig,
): Omit<OtherBytes, "caches" | "replay"> {
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

/** What an auxiliary loss's own optimiser remembers of the policy's weights. */
function ownOptimizer({ optimizer }: AuxiliaryConfig, config: RunConfig, { trained }: Around): number {
  if (optimizer === undefined) return 0;
  const random = randomStream(config.seed, "optimizer");
  return 4 * sumOf(stateShapes(create(optimizer, contextOf(config.top, { random })).rule, trained));
}

/** A kept rollout's record, texts and columns as objects; and what each term of the reward adds to it. */
const ROW = 5 * 1024;
const TERM = 1024;
/** Bytes of a kept token: five numbers, its id, its version, its origin and its mask, and once more for a checkpoint. */
const TOKEN = 2 * (5 * 8 + 4 + 4 + 1 + 1);

/** @param length of prompt and response */
function rowBytes({ reward, rollout }: StageBody, length: number): number {
  const own = longestEpisode(rollout, length);
  return ROW + TERM * reward.terms.length + TOKEN * own + 8 * (length - own);
}

/** Bytes of a file's rollouts or text in memory: about what it takes on disk, and four for each character as a token. */
const fileBytes = (path: string, each = 1): number => (existsSync(path) ? each * statSync(path).size : 0);

/** What an auxiliary loss remembers, for itself. */
function rememberedBytes({ loss }: AuxiliaryConfig, context: CreateContext, row: number): number {
  const made = create(loss, context);
  if (made.kind === "learner") return made.rollouts === "memory" ? made.capacity * row : 0;
  if (made.kind !== "likelihood") return 0;
  const { data } = made;
  if (data.from === "successes" || data.from === "corrections") return data.capacity * row;
  if (data.from === "solutions") return 0;
  return fileBytes(data.path, data.from === "text" ? 4 : 1);
}

/** The stage that keeps the most; rows are as long as they may become. */
function replayBytes({ stages, seed }: RunConfig, { length }: Around): number {
  const kept = stages.map(({ body }) => {
    const context = contextOf(body, { random: randomStream(seed, "replay") });
    const row = rowBytes(body, length);
    const source = create(body.replay.source, context);
    const remembered = body.auxiliary.reduce((sum, one) => sum + rememberedBytes(one, context, row), 0);
    if (source.kind === "window" || source.kind === "log") return remembered + source.capacity * row;
    return remembered + (source.kind === "file" ? fileBytes(source.path) : 0);
  });
  return Math.max(0, ...kept);
}

export function extraNeeds(config: RunConfig, around: Around): OtherBytes {
  const needs = config.models.flatMap((one) =>
    one.kind === "perceptron" ? [perceptronBytes(config, one)] : [],
  );
  const sum = (name: keyof (typeof needs)[number]): number => needs.reduce((all, one) => all + one[name], 0);
  const named = config.stages.map(({ body }) =>
    body.auxiliary.reduce((all, one) => all + ownOptimizer(one, config, around), 0),
  );
  return {
    weights: sum("weights"),
    snapshots: sum("snapshots"),
    optimizer: sum("optimizer") + Math.max(0, ...named),
    step: sum("step"),
    caches: markBytes(config, around.vocabulary),
    replay: replayBytes(config, around),
  };
}
