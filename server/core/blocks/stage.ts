/** The keys of a stage that are no block of the config: when it ends, what happens as it begins, how it passes over. */
import { z } from "zod";
import { param } from "../declaration.ts";
import { writtenKinds } from "../../../shared/run/stageKinds.ts";
import { refers, template } from "../references.ts";
import { BESIDE_REFERENCE } from "../rows/reading.ts";
import { betterWay } from "./checkpoint.ts";
import { made, value, whole } from "./kinds.ts";

const conditionSchema = z.strictObject({
  metric: param(refers({ to: "metric" }), "A metric's name, e.g. `reward/total`."),
  above: param(z.number().optional(), "Ends the stage when the mean over the window is above this."),
  below: param(z.number().optional(), "Ends the stage when the mean over the window is below this."),
  window: param(
    whole(1).optional(),
    "The window: how many of the last values the mean is over. Default: 10, for `eval/…` 1.",
  ),
  patience: param(
    whole(1).optional(),
    "How many values in a row the bound must hold. Default: 1. Without a bound: ends the stage when this many values have not improved on the best.",
  ),
  min_delta: param(
    z.number().nonnegative().default(0),
    "Without a bound: a change counts as an improvement if it is larger than this.",
  ),
  mode: param(
    z.enum(["max", "min"]).optional(),
    "Which direction is better. Default: what Gradus knows of the metric, else max.",
  ),
});

const untilSchema = z.union([
  conditionSchema,
  z.strictObject({ any: param(z.array(conditionSchema).min(1), "Conditions, of which one is enough.") }),
  z.strictObject({
    all: param(z.array(conditionSchema).min(1), "Conditions that must all hold at the same time."),
  }),
]);

const share = param(z.number().nonnegative().default(1), "Its weight. Weights are divided by their sum.");
const mergeSchema = z
  .array(
    z.union([
      z.strictObject({
        stage: param(refers({ to: "stage" }).min(1), "The policy as that earlier stage left it."),
        weight: share,
      }),
      z.strictObject({
        snapshot: param(
          refers({ to: "snapshot" }).min(1),
          "The policy as `on_enter: { snapshot: NAME }` kept it.",
        ),
        weight: share,
      }),
      z.strictObject({
        checkpoint: param(
          refers({ to: "file", ends: [""] }).min(1),
          "A checkpoint's folder, relative to this config.",
        ),
        weight: share,
      }),
      z.strictObject({
        model: param(
          z.enum(["policy", "reference"]),
          "policy: the current weights; reference: those of the reference policy.",
        ),
        weight: share,
      }),
    ]),
  )
  .min(1);

const carryOverSchema = z.strictObject({
  from: param(
    z.enum(["all", "previous"]).default("all"),
    "Whose tasks are carried over: those of all earlier stages, or of the one before.",
  ),
  share: param(
    z.number().gt(0).max(1).default(0.25),
    "Share of a step's prompts that come from earlier stages.",
  ),
  weight: param(
    z.enum(["inverse_success", "inverse_reward", "uniform"]).default("inverse_success"),
    "How a task is drawn: in proportion to 1 / its success rate or 1 / its mean reward when it was last rolled out, or uniformly.",
  ),
  below: param(
    z.number().gt(0).max(1).default(1),
    "Only tasks whose success rate was below this are carried over.",
  ),
  floor: param(
    z.number().gt(0).default(0.0625),
    "A rate or mean below this counts as this, so a task that always failed is drawn by this value.",
  ),
  unsolved: param(
    z.enum(["keep", "leave_out"]).default("keep"),
    "What happens to tasks that were never solved: drawn by the floor, or left out.",
  ),
  capacity: param(whole(1).default(4096), "How many of a stage's latest tasks are remembered."),
});

const onEnterWords = ["refresh_reference", "reset_optimizer"] as const;
const onEnterSchema = z.union([
  z.array(z.enum(onEnterWords)),
  z.strictObject({
    reference: param(
      z.literal("refresh").optional(),
      "The policy as it is now becomes the reference policy.",
    ),
    optimizer: param(z.literal("reset").optional(), "The optimiser starts again, including its warm-up."),
    models: param(
      z.array(refers({ to: "model" })).optional(),
      "Copies (`ema`, `polyak`) that start again from the current weights of the model that they follow.",
    ),
    init: param(
      z.record(refers({ to: "model" }), refers({ to: "model", also: ["policy"] })).optional(),
      "Models of `models` that train, each with the model whose weights it takes, heads included: a critic that begins as a reward model. Both must have the same size and the same heads.",
    ),
    snapshot: param(
      z.string().min(1).optional(),
      "Keeps the policy as it is now under this name, for a later merge.",
    ),
    merge: param(
      mergeSchema.optional(),
      "The policy becomes the weighted mean of these weights before the stage begins.",
    ),
    carry_over: param(
      carryOverSchema.optional(),
      "Some of the stage's prompts are hard tasks of earlier stages.",
    ),
  }),
]);

const crossfadeSchema = z.strictObject({
  over: param(whole(1), "Steps of the stage until only its own tasks and weights are left."),
  shape: param(z.enum(["linear", "cosine"]).default("linear"), "How the share moves from 0 to 1."),
  of: param(
    z
      .array(z.enum(["tasks", "rewards"]))
      .min(1)
      .default(["tasks", "rewards"]),
    "What changes gradually: which tasks are drawn, and the weights of reward terms.",
  ),
});

const alternateSchema = z
  .array(
    z.strictObject({
      stage: param(
        refers({ to: "stage" }).min(1),
        "A stage of the list. It then has no other place in the order.",
      ),
      steps: param(whole(1), "Its steps in a row."),
    }),
  )
  .min(1);

type WrittenCondition = z.output<typeof conditionSchema>;
/** What a stage ends by, its defaults resolved. */
export type Condition = Readonly<WrittenCondition & { window: number; mode: "max" | "min" }>;

/** When a stage ends before its steps. A single condition is one of `any`. */
export interface Until {
  readonly of: "any" | "all";
  readonly conditions: readonly Condition[];
}

/** Weights that a merge reads. */
export type MergeSource =
  | { readonly kind: "stage" | "snapshot"; readonly name: string }
  | { readonly kind: "checkpoint"; readonly path: string }
  | { readonly kind: "model"; readonly name: "policy" | "reference" };

export interface MergePart {
  readonly source: MergeSource;
  readonly weight: number;
}

const conditionOf = (written: WrittenCondition): Condition => ({
  ...written,
  window: written.window ?? (written.metric.startsWith("eval/") ? 1 : 10),
  mode: written.mode ?? betterWay(written.metric),
});

function untilOf(written: z.output<typeof untilSchema> | undefined): Until | undefined {
  if (written === undefined) return undefined;
  if ("any" in written) return { of: "any", conditions: written.any.map(conditionOf) };
  if ("all" in written) return { of: "all", conditions: written.all.map(conditionOf) };
  return { of: "any", conditions: [conditionOf(written)] };
}

const mergeOf = (parts: Readonly<z.output<typeof mergeSchema>> = []): readonly MergePart[] =>
  parts.map((part): MergePart => {
    const { weight } = part;
    if ("stage" in part) return { source: { kind: "stage", name: part.stage }, weight };
    if ("snapshot" in part) return { source: { kind: "snapshot", name: part.snapshot }, weight };
    if ("checkpoint" in part) return { source: { kind: "checkpoint", path: part.checkpoint }, weight };
    return { source: { kind: "model", name: part.model }, weight };
  });

type OnEnterWord = (typeof onEnterWords)[number];
type OnEnterOptions = Exclude<z.output<typeof onEnterSchema>, unknown[]>;
const areWords = (written: readonly OnEnterWord[] | OnEnterOptions): written is readonly OnEnterWord[] =>
  Array.isArray(written);

const onEnterOf = (written: readonly OnEnterWord[] | OnEnterOptions = []) => {
  const words = areWords(written) ? written : [];
  const options: OnEnterOptions = areWords(written) ? {} : written;
  return {
    refreshReference: options.reference !== undefined || words.includes("refresh_reference"),
    resetOptimizer: options.optimizer !== undefined || words.includes("reset_optimizer"),
    /** Copies that begin again. */
    models: options.models ?? [],
    /** Models that take the weights of others. */
    init: Object.entries(options.init ?? {}).map(([name, from]) => ({ name, from })),
    snapshot: options.snapshot,
    merge: mergeOf(options.merge),
    carryOver: options.carry_over,
  };
};

/** Pairs that tell which model wrote an answer (Pre-Trained Policy Discriminators are General Reward Models). */
const policyPairsSchema = z.strictObject({
  policies: param(
    z.array(refers({ to: "model", also: ["policy"] }).min(1)).min(2),
    "The models that write: `policy`, or names in `models`, such as checkpoints of earlier runs.",
  ),
  given: param(
    template("prompt", "reference").default(BESIDE_REFERENCE),
    "What the reward model reads before an answer.",
  ),
});

/** Of sft and pretrain in sequences, of preference and reward_model in pairs. */
const supervisedBatch = 32;

/** What a run reads as it is written. */
export const stageOptions = {
  batch: made(
    value(
      whole(1),
      "For sft and pretrain: sequences per step. For preference and reward_model: pairs per step. Default: 32.",
    ),
    (batch) => batch ?? supervisedBatch,
  ),
  pairs: made(
    value(
      z.union([z.enum(["dataset", "rollouts"]), policyPairsSchema]),
      "For preference and reward_model: where pairs come from. dataset (the default): `chosen` and `rejected` of the tasks; rollouts: answers that the policy generates and the reward ranks. For reward_model, `{ policies: [NAME, NAME] }`: answers of several models; one by the model that wrote a reference is better than one by another.",
    ),
    (pairs) => pairs ?? "dataset",
  ),
  trains: value(
    refers({ to: "model" }),
    "For reward_model: the model in `models` whose head learns. It needs `trains: true`.",
  ),
  merge: made(value(mergeSchema, "For merge: the weights whose weighted mean becomes the policy."), mergeOf),
  until: made(
    value(untilSchema, "Ends the stage early when a metric's mean crosses a value.", { live: true }),
    untilOf,
  ),
  on_enter: made(value(onEnterSchema, "What happens when the stage begins."), onEnterOf),
  crossfade: made(
    value(
      crossfadeSchema,
      "Moves over from the previous stage step by step, instead of at a sharp boundary.",
    ),
    (written) => {
      if (written === undefined) return undefined;
      const { over, shape, of } = written;
      return { over, shape, tasks: of.includes("tasks"), rewards: of.includes("rewards") };
    },
  ),
};

export const stageFields = {
  name: value(z.string().min(1), "The stage's name. Unique.", { required: true }),
  kind: value(
    z.enum(writtenKinds),
    "rl (the default): reinforcement learning; sft: the tasks' written solutions; pretrain: next-token loss on plain text; preference: pairs of answers; reward_model: a model's head learns which of two is better; rlp, rlpt, rmt: reinforcement on plain text; merge: the mean of several weights.",
    { default: "rl" },
  ),
  steps: value(whole(1), "Most steps of the stage. Default for rl: the top-level `steps`."),
  ...stageOptions,
  alternate: value(
    alternateSchema,
    "Other stages of the list take turns for `steps` steps in all. This stage has no blocks of its own.",
  ),
};
