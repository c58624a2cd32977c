/** What a config says where nobody says anything: the choices of preset `grpo`. */
import { tokenizerDefaults } from "./modelTokenizer.ts";
import type { JsonObject } from "../../../shared/json.ts";

export const defaultSteps = 100;

/** A tiny model's size: 0.86 million parameters. */
const tinySize: JsonObject = { width: 128, layers: 4, heads: 4, hidden: 384, context: 128, tied: true };

export const defaults: JsonObject = {
  seed: 1,
  model: { base: "tiny", ...tinySize, tokenizer: { ...tokenizerDefaults } },
  curriculum: {
    arms: { use: "difficulty" },
    signal: { use: "mean_abs_advantage" },
    estimator: { use: "ema" },
    sampler: { use: "uniform" },
    start: { use: "prompt" },
    admission: { use: "none", refill: { use: "none" } },
    budget: { use: "fixed" },
  },
  rollout: {
    prompts: 16,
    group: 8,
    shape: { use: "single" },
    branch: { use: "none" },
    max_tokens: 64,
    temperature: 1,
    top_p: 1,
    top_k: 0,
    min_p: 0,
    repetition_penalty: 1,
    presence_penalty: 0,
    frequency_penalty: 0,
    stop: [],
    chat: "auto",
    min_tokens: 0,
    prefix: "",
    logit_bias: {},
  },
  guidance: {
    trigger: { use: "none" },
    source: { use: "solution" },
    amount: { use: "fixed" },
    ratio: { use: "same_context" },
    context: "keep",
    place: "replace",
    trains: "auto",
    given_advantage: "joint",
    enter: "all",
  },
  reward: { terms: {}, attempts: "last", combine: { use: "sum" }, success: { at_least: 1 }, timeout: 5 },
  advantage: {
    baseline: { use: "group_mean" },
    scale: { use: "group_std" },
    level: "auto",
    gamma: 1,
    returns: "after",
    per_source: false,
    penalty: "in_reward",
    observations: "skip",
    whiten: "none",
    sign: { positive: 1, negative: 1 },
    filter: "none",
    prefix: "soft",
    clip: "none",
    unscored: "leave_out",
    token_weights: [],
  },
  objective: {
    use: "clipped",
    low: 0.2,
    high: 0.2,
    aggregate: { use: "sequence_mean", empty_rows: "count" },
    correction: [],
    entropy: 0,
  },
  kl: [],
  route: [],
  mask: [],
  replay: {
    use: "none",
    admission: { use: "all" },
    draw: { use: "uniform" },
    rescore: { use: "recorded" },
    share: 0.5,
    weight: 1,
    every: 1,
    place: "joint",
    updates: 1,
    select: { use: "all", statistics: "all" },
  },
  auxiliary: [],
  update: { optimizer: { use: "adamw", schedule: "constant" }, epochs: 1, micro_tokens: "auto" },
  evaluation: { every: 50, prompts: 128, pass_at: [1, 8], temperature: 1, record: 64 },
  checkpoint: { every: 50, every_seconds: 60, keep: 3 },
  engine: { backend: "auto" },
};

/** Of each `kl` entry. */
export const klDefaults: JsonObject = {
  model: "reference",
  direction: "reverse",
  estimator: { use: "k3" },
  place: "loss",
  coefficient: 0.001,
  mask: "all",
  importance_weighted: false,
  aggregate: "objective",
};
/** Of each loss in `objective.also`. */
export const besideDefaults: JsonObject = { factor: 1, of: "policy" };
/** Of `objective.value`, where it is written. */
export const valueDefaults: JsonObject = { coefficient: 0.5 };
/** Of each `auxiliary` entry. */
export const auxiliaryDefaults: JsonObject = { weight: 1, when: "always", place: "joined" };
export const taskDefaults: JsonObject = { weight: 1 };
export const termDefaults: JsonObject = { weight: 1 };
export const stageDefaults: JsonObject = { kind: "rl" };
export const supervisedBatch = 32;
