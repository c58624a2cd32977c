/** From a checked config to what the run reads. Only called on a config without errors. */
import type { BuiltTop } from "./types.ts";
import { basename } from "node:path";
import { z } from "zod";
import type { Json } from "../../../shared/json.ts";
import { betterWay } from "./buildStage.ts";
import { buildModel, buildModels } from "./buildModels.ts";
import { buildGenerate } from "./buildGenerate.ts";
import {
  givenAdvantages,
  guidanceContexts,
  guidanceEnters,
  guidancePlaces,
  guidanceTrains,
} from "../grammar/guidanceGrammar.ts";
import { auxiliaryTrigger } from "../grammar/replayGrammar.ts";
import { bytesOf, memorySize } from "./memorySize.ts";
import { laidOut, learningRateSchedule, type RateSchedule } from "../../core/blocks/learningRate.ts";
import {
  annealSchema,
  grammarSchema,
  perturbSchema,
  spansSchema,
  stepsSchema,
  termAttempts,
} from "../../core/blocks/rollout.ts";
import { withClock } from "./parsed.ts";
import { isObject, Reader, types, type CheckedTree } from "./reader.ts";
import { join, child, type SourceNode } from "../text/node.ts";
import { klAggregate, klImportance, klRows, klWeight, adaptiveSchema } from "../../core/blocks/kl.ts";
import { klShown, shownOf } from "../../core/blocks/klShown.ts";
import { routePlaces, routeWhen } from "../../core/blocks/routes.ts";
import { buildObjective } from "./buildObjective.ts";
import { clipSchema, filterSchema, whitenSchema } from "../../core/blocks/advantage.ts";
import { advantageLevels } from "../../core/slots/advantage.ts";
import type { Scheduled } from "../../core/schedule.ts";
import type { RunConfig } from "../../core/config/runConfig.ts";
import type { StageConfig } from "../../core/config/stageConfig.ts";
import type {
  AdvantageConfig,
  AuxiliaryConfig,
  GuidanceConfig,
  KlConfig,
  ReplayConfig,
  RewardTermConfig,
  RouteConfig,
  StageBody,
  TaskConfig,
} from "../../core/config/resolved.ts";
import { nameOf } from "../check/method.ts";

/** `steps` is what a learning rate's course spans. A block that a stage shares with the top level is the very same. */
export function buildBody(tree: CheckedTree, steps: number, top?: BuiltTop): StageBody {
  const reader = new Reader(tree);
  const shared = (...blocks: readonly (keyof StageBody)[]): StageBody | undefined =>
    blocks.every((block) => child(tree.node, block) === child(top?.tree.node, block)) ? top?.body : undefined;
  return {
    tasks: shared("tasks")?.tasks ?? buildTasks(reader),
    curriculum: shared("curriculum")?.curriculum ?? buildCurriculum(reader),
    rollout: shared("rollout")?.rollout ?? buildRollout(reader),
    guidance: shared("guidance")?.guidance ?? buildGuidance(reader),
    reward: shared("reward")?.reward ?? buildReward(reader),
    advantage: shared("advantage")?.advantage ?? buildAdvantage(reader),
    objective: shared("objective")?.objective ?? buildObjective(reader),
    kl: shared("kl")?.kl ?? buildKl(reader),
    route: shared("route")?.route ?? buildRoute(reader),
    mask: shared("mask")?.mask ?? reader.items("mask").map(({ path }) => reader.choice("mask", path)),
    replay: shared("replay")?.replay ?? buildReplay(reader),
    auxiliary: shared("auxiliary")?.auxiliary ?? buildAuxiliary(reader),
    update:
      (steps === top?.steps ? shared("update", "rollout")?.update : undefined) ?? buildUpdate(reader, steps),
  };
}

const buildCurriculum = (reader: Reader): StageBody["curriculum"] => ({
  arms: reader.choice("arms", "curriculum.arms"),
  signal: reader.choice("signal", "curriculum.signal"),
  estimator: reader.choice("estimator", "curriculum.estimator"),
  sampler: reader.choice("sampler", "curriculum.sampler"),
  admission: reader.choice("admission", "curriculum.admission"),
  refill: reader.choice("refill", "curriculum.admission.refill"),
  start: reader.choice("start", "curriculum.start"),
  budget: reader.choice("budget", "curriculum.budget"),
});

function buildAdvantage(reader: Reader): AdvantageConfig {
  const at = (...path: readonly string[]): Scheduled =>
    reader.scheduled(reader.json("advantage", ...path), reader.node("advantage", ...path));
  const one = <const Word extends string>(key: string, words: readonly Word[]): Word =>
    reader.read(z.enum(words), "advantage", key);
  return {
    baseline: reader.choice("baseline", "advantage.baseline"),
    scale: reader.choice("scale", "advantage.scale"),
    level: one("level", ["auto", ...advantageLevels]),
    gamma: at("gamma"),
    returns: one("returns", ["after", "before", "none"]),
    per_source: reader.read(z.boolean(), "advantage", "per_source"),
    penalty: one("penalty", ["in_reward", "apart"]),
    observations: one("observations", ["skip", "discount"]),
    whiten: reader.read(whitenSchema, "advantage", "whiten"),
    sign: { positive: at("sign", "positive"), negative: at("sign", "negative") },
    filter: reader.read(filterSchema, "advantage", "filter"),
    prefix: one("prefix", ["soft", "hard"]),
    clip: reader.read(clipSchema, "advantage", "clip"),
    unscored: one("unscored", ["leave_out", "zero"]),
    token_weights: reader
      .paths("advantage", "token_weights")
      .map((path) => reader.choice("token_weight", path)),
  };
}

const buildTasks = (reader: Reader): TaskConfig[] =>
  reader.items("tasks").map(({ path, json, node }) => ({
    name: nameOf(node, "task") ?? path,
    weight: reader.scheduled(json["weight"], child(node, "weight")),
    source: reader.choice("task", path),
    ...(json["generate"] === undefined ? {} : { generate: buildGenerate(reader, path, json) }),
  }));

const rolloutTypes = {
  steps: stepsSchema.optional(),
  spans: spansSchema.optional(),
  grammar: grammarSchema.optional(),
  anneal: annealSchema.optional(),
  perturb: perturbSchema.optional(),
};

function buildRollout(reader: Reader): StageBody["rollout"] {
  const n = (key: string): number => reader.number("rollout", key);
  return {
    prompts: n("prompts"),
    group: n("group"),
    shape: reader.choice("episode_shape", "rollout.shape"),
    branch: reader.choice("branching", "rollout.branch"),
    max_tokens: n("max_tokens"),
    ...buildBudget(reader),
    temperature: reader.scheduled(
      reader.json("rollout", "temperature"),
      reader.node("rollout", "temperature"),
    ),
    top_p: n("top_p"),
    top_k: n("top_k"),
    min_p: n("min_p"),
    repetition_penalty: n("repetition_penalty"),
    presence_penalty: n("presence_penalty"),
    frequency_penalty: n("frequency_penalty"),
    steps: reader.read(rolloutTypes.steps, "rollout", "steps"),
    spans: reader.read(rolloutTypes.spans, "rollout", "spans"),
    stop: reader.read(types.texts, "rollout", "stop"),
    chat: reader.read(types.flagOrAuto, "rollout", "chat"),
    system: reader.read(types.maybeText, "rollout", "system"),
    min_tokens: n("min_tokens"),
    prefix: reader.read(types.text, "rollout", "prefix"),
    logit_bias: reader.read(types.numberByText, "rollout", "logit_bias"),
    grammar: reader.read(rolloutTypes.grammar, "rollout", "grammar"),
    anneal: buildAnneal(reader),
    perturb: reader.read(rolloutTypes.perturb, "rollout", "perturb"),
    lanes: reader.read(types.maybeNumber, "rollout", "lanes"),
  };
}

function buildBudget(reader: Reader): Pick<StageBody["rollout"], "budget"> {
  const written = reader.json("rollout", "budget");
  return written === undefined ? {} : { budget: reader.scheduled(written, reader.node("rollout", "budget")) };
}

function buildAnneal(reader: Reader): StageBody["rollout"]["anneal"] {
  const anneal = reader.read(rolloutTypes.anneal, "rollout", "anneal");
  if (anneal === undefined) return undefined;
  const node = reader.node("rollout", "anneal", "decay");
  return { ...anneal, decay: node === undefined ? anneal.decay : withClock(anneal.decay, node) };
}

function buildReward(reader: Reader): StageBody["reward"] {
  const terms = reader.json("reward", "terms");
  const built = Object.entries(isObject(terms) ? terms : {}).map(([name, json]): RewardTermConfig => {
    const own = isObject(json) ? json : {};
    return {
      name,
      weight: reader.scheduled(own["weight"], reader.node("reward", "terms", name, "weight")),
      tasks: own["tasks"] === undefined ? undefined : types.texts.parse(own["tasks"]),
      attempts: termAttempts.parse(own["attempts"] ?? reader.json("reward", "attempts")),
      term: reader.choice("reward", join("reward.terms", name)),
    };
  });
  return {
    terms: built,
    combine: reader.choice("combine", "reward.combine"),
    success: {
      terms: reader.read(types.maybeTexts, "reward", "success", "terms"),
      at_least: reader.number("reward", "success", "at_least"),
    },
    timeout: reader.number("reward", "timeout"),
  };
}

const buildKl = (reader: Reader): KlConfig[] =>
  reader.items("kl").map(({ path, json, node }) => ({
    model: types.text.parse(json["model"]),
    direction: z.enum(["reverse", "forward"]).parse(json["direction"]),
    place: z.enum(["reward", "loss"]).parse(json["place"]),
    coefficient: coefficientOf(reader, json["coefficient"], child(node, "coefficient")),
    estimator: reader.choice("kl", join(path, "estimator")),
    mask: klRows.parse(json["mask"]),
    turns: json["turns"] === undefined ? undefined : types.numbers.parse(json["turns"]),
    weight: json["weight"] === undefined ? undefined : klWeight.parse(json["weight"]),
    importance_weighted: klImportance.parse(json["importance_weighted"]),
    aggregate: klAggregate.parse(json["aggregate"]),
    shown: json["shown"] === undefined ? undefined : shownOf(klShown.parse(json["shown"])),
  }));

const buildRoute = (reader: Reader): RouteConfig[] =>
  reader.items("route").map(({ json }) => ({
    when: [routeWhen.parse(json["when"])].flat(),
    to: routePlaces.parse(json["to"]),
  }));

const coefficientOf = (
  reader: Reader,
  json: Json | undefined,
  node: SourceNode | undefined,
): KlConfig["coefficient"] =>
  isObject(json) && "use" in json ? adaptiveSchema.parse(json) : reader.scheduled(json, node);

const buildReplay = (reader: Reader): ReplayConfig => ({
  source: reader.choice("replay", "replay"),
  admission: reader.choice("replay_admission", "replay.admission"),
  draw: reader.choice("replay_draw", "replay.draw"),
  rescore: reader.choice("rescore", "replay.rescore"),
  select: reader.choice("selection", "replay.select"),
  statistics: reader.read(z.enum(["all", "kept"]), "replay", "select", "statistics"),
  share: reader.scheduled(reader.json("replay", "share"), reader.node("replay", "share")),
  weight: reader.scheduled(reader.json("replay", "weight"), reader.node("replay", "weight")),
  every: reader.number("replay", "every"),
  place: reader.read(z.enum(["joint", "separate", "alone"]), "replay", "place"),
  updates: reader.number("replay", "updates"),
});

const buildGuidance = (reader: Reader): GuidanceConfig => ({
  trigger: reader.choice("guidance_trigger", "guidance.trigger"),
  source: reader.choice("guidance_source", "guidance.source"),
  amount: reader.choice("guidance_amount", "guidance.amount"),
  ratio: reader.choice("guidance_ratio", "guidance.ratio"),
  context: reader.read(guidanceContexts, "guidance", "context"),
  place: reader.read(guidancePlaces, "guidance", "place"),
  trains: reader.read(guidanceTrains, "guidance", "trains"),
  given_advantage: reader.read(givenAdvantages, "guidance", "given_advantage"),
  rollouts: reader.read(z.number().optional(), "guidance", "rollouts"),
  enter: reader.read(guidanceEnters, "guidance", "enter"),
});

const buildAuxiliary = (reader: Reader): AuxiliaryConfig[] =>
  reader.items("auxiliary").map(({ path, json, node }) => ({
    loss: reader.choice("auxiliary", path),
    weight: reader.scheduled(json["weight"], child(node, "weight")),
    when: auxiliaryTrigger.parse(json["when"]),
    place: z.enum(["joined", "alone"]).parse(json["place"]),
    objective:
      json["objective"] === undefined ? undefined : reader.choice("objective", join(path, "objective")),
    optimizer:
      json["optimizer"] === undefined ? undefined : reader.choice("optimizer", join(path, "optimizer")),
  }));

function buildUpdate(reader: Reader, steps: number): StageBody["update"] {
  const optimizer = reader.choice("optimizer", "update.optimizer");
  const mini_batch = reader.read(types.maybeNumber, "update", "mini_batch");
  const epochs = reader.number("update", "epochs");
  const micro = reader.read(types.numberOrAuto, "update", "micro_tokens");
  const rollouts = reader.number("rollout", "prompts") * reader.number("rollout", "group");
  // Warm-up counts optimiser steps, of which a step of the run may hold several.
  const each = epochs * Math.ceil(rollouts / Math.min(rollouts, mini_batch ?? rollouts));
  const warmup = Math.ceil(Number(optimizer.params["warmup"] ?? 0) / each);
  return {
    optimizer,
    schedule: learningRate(reader, steps, warmup),
    mini_batch,
    epochs,
    reset_every: reader.read(types.maybeNumber, "update", "reset_every"),
    micro_tokens: micro === "auto" ? undefined : micro,
  };
}

/** A named course spans what it counts: the run, or the stage that wrote it. */
function learningRate(reader: Reader, steps: number, warmup: number): RateSchedule {
  const node = reader.node("update", "optimizer", "schedule");
  const written = reader.read(learningRateSchedule, "update", "optimizer", "schedule");
  if (typeof written === "object" && "schedule" in written)
    return node === undefined ? written : withClock(written, node);
  return laidOut(written, { steps, warmup, stage: node?.origin.stage !== undefined });
}

function buildBest(reader: Reader): RunConfig["checkpoint"]["best"] {
  const wish = reader.read(
    z.object({ metric: z.string(), mode: z.enum(["max", "min"]).optional() }).optional(),
    "checkpoint",
    "best",
  );
  return wish === undefined ? undefined : { metric: wish.metric, mode: wish.mode ?? betterWay(wish.metric) };
}

function buildMatrix(reader: Reader, prompts: number): number | undefined {
  const wish = reader.read(
    z.union([z.boolean(), z.object({ prompts: z.number() })]).optional(),
    "evaluation",
    "matrix",
  );
  if (typeof wish === "object") return wish.prompts;
  return wish === true ? prompts : undefined;
}

export function buildRun(
  file: string,
  tree: CheckedTree,
  top: StageBody,
  stages: readonly StageConfig[],
): RunConfig {
  const reader = new Reader(tree);
  const n = (...path: readonly string[]): number => reader.number(...path);
  const passAt = reader.read(types.numbers, "evaluation", "pass_at");
  const threads = reader.read(types.maybeNumber, "engine", "threads");
  return {
    file,
    name: reader.read(types.maybeText, "name") ?? stemOf(file),
    seed: n("seed"),
    model: buildModel(reader, "model"),
    models: buildModels(reader),
    stages,
    top,
    evaluation: {
      every: n("evaluation", "every"),
      prompts: n("evaluation", "prompts"),
      fits: reader.node("evaluation", "prompts")?.origin.layer === "default",
      pass_at: passAt,
      samples: reader.read(types.maybeNumber, "evaluation", "samples") ?? Math.max(...passAt),
      temperature: n("evaluation", "temperature"),
      record: n("evaluation", "record"),
      matrix: buildMatrix(reader, n("evaluation", "prompts")),
    },
    checkpoint: {
      every: n("checkpoint", "every"),
      every_seconds: n("checkpoint", "every_seconds"),
      keep: n("checkpoint", "keep"),
      best: buildBest(reader),
    },
    engine: {
      backend: reader.read(z.enum(["auto", "native", "webgpu", "wasm"]), "engine", "backend"),
      threads,
      memory: bytesOf(reader.read(memorySize.optional(), "engine", "memory")),
    },
    tree: tree.json,
  };
}

/** `countdown.gradus.yaml` → countdown. */
export const stemOf = (file: string): string => basename(file).replace(/(\.gradus)?\.ya?ml$/, "");
