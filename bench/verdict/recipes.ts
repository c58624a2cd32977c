/** Runs to try the verdict on: healthy ones, and ones made to fail, each in a way that is known beforehand. */
import type { JsonObject } from "../../shared/lib/json.ts";
import type { VerdictState } from "../../shared/run/verdict.ts";

/** What a run's policy has learned from written solutions before it is rewarded. */
export interface Base {
  readonly name: string;
  readonly config: JsonObject;
}

export interface Recipe {
  readonly name: string;
  readonly base: string;
  /** null: healthy. */
  readonly failing: {
    readonly way: string;
    /** States that say what is wrong. */
    readonly states: readonly VerdictState[];
  } | null;
  readonly seeds: number;
  /** Left out of calibration, so that judging has kinds of runs that no threshold was chosen by. */
  readonly unseen?: true;
  /** On top of what all runs of its base have. */
  readonly config: JsonObject;
  /** Written as another trainer writes it, and read again. */
  readonly through?: "verl";
}

const tiny = (width: number, layers: number): JsonObject => ({
  base: "tiny",
  width,
  layers,
  heads: 4,
  hidden: 3 * width,
  context: 40,
});
const countdown = (...numbers: number[]): JsonObject => ({ env: "countdown", numbers });
const base = (
  name: string,
  model: JsonObject,
  task: JsonObject,
  steps: number,
  more: JsonObject = {},
): Base => ({
  name,
  config: {
    name,
    model,
    tasks: [task],
    rollout: { prompts: 16, group: 8, max_tokens: 14 },
    reward: { terms: { correct: { use: "exact_match" } } },
    stages: [
      { name: "warm-up", kind: "sft", steps, batch: 64, update: { optimizer: { lr: 2e-3, warmup: 20 } } },
    ],
    evaluation: { every: 1000, prompts: 128, pass_at: [1] },
    checkpoint: { every: steps, keep: 1 },
    ...more,
  },
});
const equation = { reward: { terms: { correct: { use: "equation" } } } };

export const bases: readonly Base[] = [
  base("countdown-64", tiny(64, 3), countdown(2, 3), 300, equation),
  base("countdown-96", tiny(96, 3), countdown(2, 3), 400, equation),
  base("countdown-128", tiny(128, 4), countdown(3, 4), 600, equation),
  base("countdown-young", tiny(128, 4), countdown(3, 4), 200, equation),
  base("reverse-64", tiny(64, 2), { env: "reverse_text", lengths: [3, 4, 5] }, 220),
  base("reverse-done", tiny(64, 2), { env: "reverse_text", lengths: [2] }, 900),
  base("sums-64", tiny(64, 3), { env: "arithmetic", digits: [1, 2] }, 500),
];

/** What a run has of its base: its tasks and its reward. */
export const common: Readonly<Record<string, JsonObject>> = {
  "countdown-64": { tasks: [countdown(2, 3)], ...equation },
  "countdown-96": { tasks: [countdown(2, 3)], ...equation },
  "countdown-128": { tasks: [countdown(3, 4)], ...equation },
  "countdown-young": { tasks: [countdown(3, 4)], ...equation },
  "reverse-64": {
    tasks: [{ env: "reverse_text", lengths: [3, 4, 5] }],
    reward: { terms: { correct: { use: "exact_match" } } },
  },
  "reverse-done": {
    tasks: [{ env: "reverse_text", lengths: [2] }],
    reward: { terms: { correct: { use: "exact_match" } } },
  },
  "sums-64": {
    tasks: [{ env: "arithmetic", digits: [1, 2] }],
    reward: { terms: { correct: { use: "exact_match" } } },
  },
};
export const every: JsonObject = {
  rollout: { prompts: 32, group: 8, max_tokens: 14, temperature: 1 },
  advantage: { baseline: "group_mean", scale: "group_std" },
  update: { optimizer: { use: "adamw", lr: 3e-4, warmup: 5, clip_norm: 1 } },
  steps: 100,
  evaluation: { every: 20, prompts: 400, samples: 4, pass_at: [1, 4], record: 8 },
  checkpoint: { every: 1000, keep: 1 },
};

const healthy = (name: string, base: string, seeds: number, config: JsonObject = {}): Recipe => ({
  name,
  base,
  failing: null,
  seeds,
  config,
});
const failing = (
  way: string,
  base: string,
  seeds: number,
  states: readonly VerdictState[],
  config: JsonObject,
): Recipe => ({ name: `${way}-${base}`, base, failing: { way, states }, seeds, config });

const lr = (value: number): JsonObject => ({ update: { optimizer: { lr: value } } });
const curriculum = (sampler: JsonObject): JsonObject => ({
  curriculum: {
    arms: "difficulty",
    signal: "mean_abs_advantage",
    estimator: { use: "ema", alpha: 0.5 },
    sampler,
  },
});
const summed = (use: string, weight: number, correct = 1): JsonObject => ({
  reward: {
    terms: { correct: { use: "equation", weight: correct }, extra: { use, weight } },
    success: { terms: ["correct"], at_least: 1 },
  },
});
const own = (use: string): JsonObject => ({ reward: { terms: { correct: { use } } } });

/** A judge trains, and what is really right is only looked at, on held-out answers. */
const judged = (use: string, more: JsonObject = {}): JsonObject => ({
  reward: {
    terms: { correct: { use: "equation", weight: 0 }, judge: { use }, ...more },
    success: { terms: ["judge"], at_least: 0.75 },
    gold: ["correct"],
  },
});

const healthyRecipes: readonly Recipe[] = [
  healthy("grpo", "countdown-64", 4),
  healthy("rloo", "countdown-64", 3, {
    advantage: { baseline: "leave_one_out", scale: "none" },
    ...lr(6e-4),
  }),
  healthy("sec", "countdown-64", 3, curriculum({ use: "boltzmann", temperature: 0.4 })),
  healthy("tidy", "countdown-64", 3, {
    reward: {
      terms: { correct: { use: "equation" }, tidy: { use: "./rewards/tidy.ts" } },
      combine: "product",
      success: { terms: ["correct"], at_least: 1 },
    },
  }),
  healthy("grpo-96", "countdown-96", 4),
  healthy("kl-96", "countdown-96", 3, { kl: [{ model: "reference", coefficient: 0.01 }] }),
  healthy("dapo-96", "countdown-96", 3, {
    curriculum: { admission: { use: "success_band", low: 0.05, high: 0.95, refill: "adaptive" } },
    objective: { use: "clipped", low: 0.2, high: 0.28, aggregate: "token_mean" },
  }),
  healthy("grpo-128", "countdown-128", 4),
  healthy("sec-128", "countdown-128", 3, curriculum({ use: "boltzmann", temperature: 0.4 })),
  healthy("short-128", "countdown-128", 3, { steps: 40, evaluation: { every: 10 } }),
  healthy("grpo-reverse", "reverse-64", 4, lr(1e-3)),
  healthy("reinforce-reverse", "reverse-64", 3, {
    advantage: { baseline: "batch_mean", scale: "batch_std" },
  }),
  healthy("grpo-sums", "sums-64", 4, lr(6e-4)),
  healthy("epochs-sums", "sums-64", 3, { update: { mini_batch: 128, epochs: 2 } }),
  { ...healthy("verl-96", "countdown-96", 4), through: "verl" },
  { ...healthy("verl-sums", "sums-64", 4, lr(6e-4)), through: "verl" },
  healthy("young-128", "countdown-young", 3, { steps: 160 }),
  healthy("long-64", "countdown-64", 2, { steps: 300, evaluation: { every: 50 } }),
  healthy("judged-64", "countdown-64", 5, judged("./rewards/judge.ts")),
  healthy("judged-96", "countdown-96", 5, judged("./rewards/judge.ts")),
  healthy(
    "judged-tidy-96",
    "countdown-96",
    5,
    judged("./rewards/judge.ts", { tidy: { use: "./rewards/tidy.ts", weight: 0.1 } }),
  ),
  healthy("judged-looks-64", "countdown-64", 5, {
    ...judged("./rewards/judge.ts"),
    evaluation: { every: 5 },
  }),
];

const failingRecipes: readonly Recipe[] = [
  failing("old-starter", "countdown-young", 5, ["collapsed", "hacking"], {
    ...summed("./rewards/brevity.ts", 0.1),
    ...curriculum({ use: "boltzmann", temperature: 0.4 }),
    steps: 160,
  }),
  failing("learning-rate-huge", "countdown-64", 4, ["collapsed", "unstable"], lr(3e-2)),
  failing("learning-rate-nil", "countdown-64", 4, ["flat"], lr(1e-9)),
  failing("too-hard", "countdown-64", 4, ["starved"], {
    tasks: [countdown(6)],
    rollout: { max_tokens: 20 },
  }),
  failing("too-easy", "reverse-done", 3, ["starved", "flat"], {}),
  failing("hole", "countdown-64", 4, ["hacking"], own("./rewards/hole.ts")),
  failing("format-rules", "countdown-96", 4, ["hacking", "collapsed"], summed("./rewards/format.ts", 1, 0.1)),
  failing("length-bonus", "countdown-96", 4, ["hacking", "collapsed"], summed("./rewards/long.ts", 1, 0.3)),
  failing("reward-throws", "countdown-64", 4, ["failing"], {
    reward: {
      terms: { correct: { use: "equation" }, extra: { use: "./rewards/throws.ts", weight: 0.5 } },
      success: { terms: ["correct"], at_least: 1 },
    },
  }),
  failing("kl-pinned", "countdown-64", 4, ["flat"], { kl: [{ model: "reference", coefficient: 300 }] }),
  failing("cut-short", "countdown-128", 4, ["starved"], { rollout: { max_tokens: 3 } }),
  failing("constant-reward", "countdown-64", 3, ["starved", "hacking"], own("./rewards/constant.ts")),
  failing("sign-flipped", "countdown-96", 4, ["collapsed"], {
    reward: {
      terms: { correct: { use: "equation", weight: -1 } },
      success: { terms: ["correct"], at_least: 1 },
    },
  }),
  failing("noise", "countdown-64", 4, ["collapsed", "hacking", "flat"], summed("./rewards/noise.ts", 3, 0)),
  failing("entropy-bonus", "countdown-64", 4, ["collapsed", "unstable"], {
    objective: { use: "clipped", entropy: 0.5 },
  }),
  failing("judge-likes-long", "countdown-96", 5, ["hacking", "collapsed"], judged("./rewards/wordy.ts")),
  failing("judge-with-a-hole", "countdown-64", 4, ["hacking"], judged("./rewards/hole.ts")),
];

const unseen =
  /^(rloo|dapo-96|reinforce-reverse|epochs-sums|verl-sums|sign-flipped|entropy-bonus|cut-short|length-bonus|judge)/;

export const recipes: readonly Recipe[] = [...healthyRecipes, ...failingRecipes].map((recipe) =>
  unseen.test(recipe.name) ? { ...recipe, unseen: true } : recipe,
);
