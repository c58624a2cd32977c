/** From a checked config to what the run reads. Only called on a config without errors. */
import { basename } from "node:path";
import { z } from "zod";
import type { Json, JsonObject } from "../../shared/json.ts";
import { methodOf } from "../methods.ts";
import type { Checker } from "./check.ts";
import { scheduleSchema, type Scheduled, type SlotName } from "./declaration.ts";
import { defaultSteps, sftBatch } from "./defaults.ts";
import { conditionSchema, learningRateSchedule } from "./grammar.ts";
import { annealSchema, grammarSchema } from "./rollout.ts";
import { itemName, withClock } from "./parsed.ts";
import { join, child, type MapNode, type SourceNode } from "./node.ts";
import type {
  Choice,
  Condition,
  KlConfig,
  RewardTermConfig,
  RunConfig,
  StageBody,
  StageConfig,
  TaskConfig,
} from "./resolved.ts";
import { tokenizerConfig } from "./modelTokenizer.ts";
import { grammar } from "./grammar.ts";
import { nameOf } from "./method.ts";

/** A body's merged tree with what the walk over it found. */
export interface CheckedTree {
  readonly node: MapNode;
  readonly json: JsonObject;
  readonly checker: Checker;
}

const scheduled = z.union([z.number(), scheduleSchema]);

/** Reads values of a checked tree by path, each through its type. */
class Reader {
  constructor(private readonly tree: CheckedTree) {}

  node(...path: readonly string[]): SourceNode | undefined {
    return path.reduce<SourceNode | undefined>((at, key) => child(at, key), this.tree.node);
  }

  json(...path: readonly string[]): Json | undefined {
    return path.reduce<Json | undefined>((at, key) => (isObject(at) ? at[key] : undefined), this.tree.json);
  }

  read<Schema extends z.ZodType>(schema: Schema, ...path: readonly string[]): z.output<Schema> {
    return schema.parse(this.json(...path));
  }

  number = (...path: readonly string[]): number => this.read(z.number(), ...path);

  /** A number over steps, its clock told by where it was written. */
  scheduled(json: Json | undefined, node: SourceNode | undefined): Scheduled {
    const value = scheduled.parse(json);
    return node === undefined ? value : withClock(value, node);
  }

  choice<Slot extends SlotName>(slot: Slot, path: string): Choice<Slot> {
    const found = this.tree.checker.choices.get(path);
    const declaration = found === undefined ? undefined : methodOf(slot, found.declaration.name);
    if (found === undefined || declaration === undefined) throw new Error(`no method was chosen for ${path}`);
    return { ...found, declaration };
  }

  /** Items of a list with the paths the walk gave them. */
  items(
    key: "tasks" | "kl" | "mask" | "stages",
  ): { path: string; json: JsonObject; node: SourceNode; index: number }[] {
    const list = this.node(key);
    const json = this.json(key);
    const shape = grammar.fields[key]?.shape;
    if (list?.kind !== "list" || !Array.isArray(json) || shape === undefined) return [];
    return list.items.map((node, index) => {
      const value: Json = json[index];
      return {
        path: join(key, itemName(shape, node, index, list)),
        json: isObject(value) ? value : {},
        node,
        index,
      };
    });
  }
}

const isObject = (value: Json | undefined): value is JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value);

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
    advantage: {
      baseline: reader.choice("baseline", "advantage.baseline"),
      scale: reader.choice("scale", "advantage.scale"),
    },
    objective: {
      loss: reader.choice("objective", "objective"),
      aggregate: reader.choice("aggregate", "objective.aggregate"),
      entropy: reader.scheduled(reader.json("objective", "entropy"), reader.node("objective", "entropy")),
    },
    kl: buildKl(reader),
    mask: reader.items("mask").map(({ path }) => reader.choice("mask", path)),
    update: buildUpdate(reader, steps),
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
    stop: reader.read(z.array(z.string()), "rollout", "stop"),
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
    coefficient: reader.scheduled(json["coefficient"], child(node, "coefficient")),
    estimator: reader.choice("kl", join(path, "estimator")),
  }));

function buildUpdate(reader: Reader, steps: number): StageBody["update"] {
  const node = reader.node("update", "optimizer", "schedule");
  const schedule = reader.read(learningRateSchedule, "update", "optimizer", "schedule");
  const micro = reader.read(z.union([z.literal("auto"), z.number()]), "update", "micro_tokens");
  return {
    optimizer: reader.choice("optimizer", "update.optimizer"),
    schedule: learningRate(schedule, node, steps),
    mini_batch: reader.read(z.number().optional(), "update", "mini_batch"),
    epochs: reader.number("update", "epochs"),
    micro_tokens: micro === "auto" ? undefined : micro,
  };
}

/** `linear` and `cosine` fall to 0 at the end of what they count: the run, or the stage that wrote them. */
function learningRate(
  value: z.output<typeof learningRateSchedule>,
  node: SourceNode | undefined,
  steps: number,
): Scheduled {
  if (value === "constant") return 1;
  if (typeof value === "number") return value;
  if (typeof value === "object") return node === undefined ? value : withClock(value, node);
  const whole = { schedule: value, from: 1, to: 0, over: steps, start: 0 } as const;
  return node?.origin.stage === undefined ? whole : { ...whole, clock: "stage" };
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
  const { metric, window, above, below, patience } = conditionSchema.parse(json);
  return {
    metric,
    window,
    ...(above === undefined ? {} : { above }),
    ...(below === undefined ? {} : { below }),
    ...(patience === undefined ? {} : { patience }),
  };
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
  const heads = n("model", "heads");
  return {
    file,
    name: reader.read(z.string().optional(), "name") ?? stemOf(file),
    seed: n("seed"),
    model: {
      base: reader.read(z.string(), "model", "base"),
      size: {
        width: n("model", "width"),
        layers: n("model", "layers"),
        heads,
        kv_heads: reader.read(z.number().optional(), "model", "kv_heads") ?? heads,
        hidden: n("model", "hidden"),
        context: n("model", "context"),
        tied: reader.read(z.boolean(), "model", "tied"),
      },
      tokenizer: tokenizerConfig(reader.json("model", "tokenizer")),
    },
    stages,
    top,
    evaluation: {
      every: n("evaluation", "every"),
      prompts: n("evaluation", "prompts"),
      pass_at: passAt,
      samples: reader.read(z.number().optional(), "evaluation", "samples") ?? Math.max(...passAt),
      temperature: n("evaluation", "temperature"),
    },
    checkpoint: {
      every: n("checkpoint", "every"),
      every_seconds: n("checkpoint", "every_seconds"),
      keep: n("checkpoint", "keep"),
    },
    engine: {
      backend: reader.read(z.enum(["auto", "native", "webgpu", "wasm"]), "engine", "backend"),
      threads,
    },
    tree: tree.json,
  };
}

/** `countdown.gradus.yaml` → countdown. */
export const stemOf = (file: string): string => basename(file).replace(/(\.gradus)?\.ya?ml$/, "");
