/** From a checked config to what the run reads. Only called on a config without errors. */
import { basename } from "node:path";
import { z } from "zod";
import type { Json, JsonObject } from "../../shared/json.ts";
import { metricNamed } from "../../shared/metrics.ts";
import { defaultSteps, sftBatch } from "./defaults.ts";
import { buildModel, buildModels } from "./buildModels.ts";
import { conditionSchema } from "./grammar.ts";
import { auxiliaryTrigger } from "./replayGrammar.ts";
import { bytesOf, memorySize } from "./memorySize.ts";
import { laidOut, learningRateSchedule, type RateSchedule } from "./learningRate.ts";
import { annealSchema, grammarSchema } from "./rollout.ts";
import { withClock } from "./parsed.ts";
import { isObject, Reader, type CheckedTree } from "./reader.ts";
import { join, child, type SourceNode } from "./node.ts";
import { adaptiveSchema } from "../kl/adaptive.ts";
import { klAggregate, klImportance, klRows, klWeight } from "../kl/entry.ts";
import { entropySchema } from "../objective/entropy.ts";
import { clipSchema } from "../advantage/clip.ts";
import { filterSchema } from "../advantage/filter.ts";
import { advantageLevels } from "../advantage/types.ts";
import { whitenSchema } from "../advantage/whiten.ts";
import type { Scheduled } from "./declaration.ts";
import type {
  AdvantageConfig,
  AuxiliaryConfig,
  Condition,
  KlConfig,
  ReplayConfig,
  RewardTermConfig,
  RunConfig,
  StageBody,
  StageConfig,
  TaskConfig,
} from "./resolved.ts";
import { nameOf } from "./method.ts";

export function buildBody(tree: CheckedTree, steps: number): StageBody {
  const reader = new Reader(tree);
  return {
    tasks: buildTasks(reader),
    curriculum: {
      arms: reader.choice("arms", "curriculum.arms"),
      signal: reader.choice("signal", "curriculum.signal"),
      estimator: reader.choice("estimator", "curriculum.estimator"),
      sampler: reader.choice("sampler", "curriculum.sampler"),
      admission: reader.choice("admission", "curriculum.admission"),
      refill: reader.choice("refill", "curriculum.admission.refill"),
    },
    rollout: buildRollout(reader),
    reward: buildReward(reader),
    advantage: buildAdvantage(reader),
    objective: {
      loss: reader.choice("objective", "objective"),
      value: buildValue(reader),
      aggregate: reader.choice("aggregate", "objective.aggregate"),
      correction: reader.paths("objective", "correction").map((path) => reader.choice("correction", path)),
      entropy: buildEntropy(reader),
    },
    kl: buildKl(reader),
    mask: reader.items("mask").map(({ path }) => reader.choice("mask", path)),
    replay: buildReplay(reader),
    auxiliary: buildAuxiliary(reader),
    update: buildUpdate(reader, steps),
  };
}

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

function buildValue(reader: Reader): StageBody["objective"]["value"] {
  if (reader.json("objective", "value") === undefined) return undefined;
  return {
    loss: reader.choice("objective", "objective.value"),
    coefficient: reader.scheduled(
      reader.json("objective", "value", "coefficient"),
      reader.node("objective", "value", "coefficient"),
    ),
  };
}

const buildTasks = (reader: Reader): TaskConfig[] =>
  reader.items("tasks").map(({ path, json, node }) => ({
    name: nameOf(node, "task") ?? path,
    weight: reader.scheduled(json["weight"], child(node, "weight")),
    source: reader.choice("task", path),
  }));

function buildRollout(reader: Reader): StageBody["rollout"] {
  const n = (key: string): number => reader.number("rollout", key);
  return {
    prompts: n("prompts"),
    group: n("group"),
    max_tokens: n("max_tokens"),
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
    stop: reader.read(z.array(z.string()), "rollout", "stop"),
    chat: reader.read(z.union([z.boolean(), z.literal("auto")]), "rollout", "chat"),
    system: reader.read(z.string().optional(), "rollout", "system"),
    min_tokens: n("min_tokens"),
    prefix: reader.read(z.string(), "rollout", "prefix"),
    logit_bias: reader.read(z.record(z.string(), z.number()), "rollout", "logit_bias"),
    grammar: reader.read(grammarSchema.optional(), "rollout", "grammar"),
    anneal: buildAnneal(reader),
    lanes: reader.read(z.number().optional(), "rollout", "lanes"),
  };
}

function buildAnneal(reader: Reader): StageBody["rollout"]["anneal"] {
  const anneal = reader.read(annealSchema.optional(), "rollout", "anneal");
  if (anneal === undefined) return undefined;
  const decay = reader.scheduled(
    reader.json("rollout", "anneal", "decay"),
    reader.node("rollout", "anneal", "decay"),
  );
  return { ...anneal, decay };
}

function buildReward(reader: Reader): StageBody["reward"] {
  const terms = reader.json("reward", "terms");
  const built = Object.entries(isObject(terms) ? terms : {}).map(([name, json]): RewardTermConfig => {
    const own = isObject(json) ? json : {};
    return {
      name,
      weight: reader.scheduled(own["weight"], reader.node("reward", "terms", name, "weight")),
      tasks: own["tasks"] === undefined ? undefined : z.array(z.string()).parse(own["tasks"]),
      term: reader.choice("reward", join("reward.terms", name)),
    };
  });
  return {
    terms: built,
    combine: reader.choice("combine", "reward.combine"),
    success: {
      terms: reader.read(z.array(z.string()).optional(), "reward", "success", "terms"),
      at_least: reader.number("reward", "success", "at_least"),
    },
    timeout: reader.number("reward", "timeout"),
  };
}

const buildKl = (reader: Reader): KlConfig[] =>
  reader.items("kl").map(({ path, json, node }) => ({
    model: z.string().parse(json["model"]),
    direction: z.enum(["reverse", "forward"]).parse(json["direction"]),
    place: z.enum(["reward", "loss"]).parse(json["place"]),
    coefficient: coefficientOf(reader, json["coefficient"], child(node, "coefficient")),
    estimator: reader.choice("kl", join(path, "estimator")),
    mask: klRows.parse(json["mask"]),
    turns: json["turns"] === undefined ? undefined : z.array(z.number()).parse(json["turns"]),
    weight: json["weight"] === undefined ? undefined : klWeight.parse(json["weight"]),
    importance_weighted: klImportance.parse(json["importance_weighted"]),
    aggregate: klAggregate.parse(json["aggregate"]),
  }));

const coefficientOf = (
  reader: Reader,
  json: Json | undefined,
  node: SourceNode | undefined,
): KlConfig["coefficient"] =>
  isObject(json) && "use" in json ? adaptiveSchema.parse(json) : reader.scheduled(json, node);

function buildEntropy(reader: Reader): StageBody["objective"]["entropy"] {
  const json = reader.json("objective", "entropy");
  const node = reader.node("objective", "entropy");
  if (!isObject(json) || !("coefficient" in json)) return reader.scheduled(json, node);
  const coefficient = reader.scheduled(json["coefficient"], child(node, "coefficient"));
  return { ...entropySchema.parse(json), coefficient };
}

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

const buildAuxiliary = (reader: Reader): AuxiliaryConfig[] =>
  reader.items("auxiliary").map(({ path, json, node }) => ({
    loss: reader.choice("auxiliary", path),
    weight: reader.scheduled(json["weight"], child(node, "weight")),
    when: auxiliaryTrigger.parse(json["when"]),
    place: z.enum(["joined", "alone"]).parse(json["place"]),
    optimizer:
      json["optimizer"] === undefined ? undefined : reader.choice("optimizer", join(path, "optimizer")),
  }));

function buildUpdate(reader: Reader, steps: number): StageBody["update"] {
  const optimizer = reader.choice("optimizer", "update.optimizer");
  const mini_batch = reader.read(z.number().optional(), "update", "mini_batch");
  const epochs = reader.number("update", "epochs");
  const micro = reader.read(z.union([z.literal("auto"), z.number()]), "update", "micro_tokens");
  const rollouts = reader.number("rollout", "prompts") * reader.number("rollout", "group");
  // Warm-up counts optimiser steps, of which a step of the run may hold several.
  const each = epochs * Math.ceil(rollouts / Math.min(rollouts, mini_batch ?? rollouts));
  const warmup = Math.ceil(Number(optimizer.params["warmup"] ?? 0) / each);
  return {
    optimizer,
    schedule: learningRate(reader, steps, warmup),
    mini_batch,
    epochs,
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

/** Steps of a stage: its own, else the top-level `steps`, else 100. */
export const stageSteps = (stage: JsonObject, top: JsonObject): number =>
  typeof stage["steps"] === "number"
    ? stage["steps"]
    : typeof top["steps"] === "number"
      ? top["steps"]
      : defaultSteps;

export function buildStage(json: JsonObject, body: StageBody, steps: number): StageConfig {
  const condition = json["until"] === undefined ? undefined : conditionOf(json["until"]);
  return {
    name: z.string().parse(json["name"]),
    kind: z.enum(["sft", "rl"]).parse(json["kind"]),
    steps,
    until: condition,
    on_enter: json["on_enter"] === undefined ? [] : z.array(z.string()).parse(json["on_enter"]),
    body,
    batch: typeof json["batch"] === "number" ? json["batch"] : sftBatch,
  };
}

function conditionOf(json: Json): Condition {
  const { metric, window, above, below, patience, min_delta, mode } = conditionSchema.parse(json);
  return {
    metric,
    window: window ?? (metric.startsWith("eval/") ? 1 : 10),
    min_delta,
    mode: mode ?? betterWay(metric),
    ...(above === undefined ? {} : { above }),
    ...(below === undefined ? {} : { below }),
    ...(patience === undefined ? {} : { patience }),
  };
}

/** Which way a metric gets better. */
const betterWay = (metric: string): "max" | "min" =>
  metricNamed(metric)?.better === "lower" ? "min" : "max";

function buildBest(reader: Reader): RunConfig["checkpoint"]["best"] {
  const wish = reader.read(
    z.object({ metric: z.string(), mode: z.enum(["max", "min"]).optional() }).optional(),
    "checkpoint",
    "best",
  );
  return wish === undefined ? undefined : { metric: wish.metric, mode: wish.mode ?? betterWay(wish.metric) };
}

export function buildRun(
  file: string,
  tree: CheckedTree,
  top: StageBody,
  stages: readonly StageConfig[],
): RunConfig {
  const reader = new Reader(tree);
  const n = (...path: readonly string[]): number => reader.number(...path);
  const passAt = reader.read(z.array(z.number()), "evaluation", "pass_at");
  const threads = reader.read(z.number().optional(), "engine", "threads");
  return {
    file,
    name: reader.read(z.string().optional(), "name") ?? stemOf(file),
    seed: n("seed"),
    model: buildModel(reader, "model"),
    models: buildModels(reader),
    stages,
    top,
    evaluation: {
      every: n("evaluation", "every"),
      prompts: n("evaluation", "prompts"),
      pass_at: passAt,
      samples: reader.read(z.number().optional(), "evaluation", "samples") ?? Math.max(...passAt),
      temperature: n("evaluation", "temperature"),
      record: n("evaluation", "record"),
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
