/** The keys of a stage that are no block of the config: when it ends, what happens as it begins, how it passes over. */
import { z } from "zod";
import { writtenKinds } from "../../../shared/stageKinds.ts";
import { value, whole } from "./fields.ts";
import { refers } from "../../core/references.ts";
import type { Fields } from "./shape.ts";

export const conditionSchema = z.strictObject({
  metric: refers({ to: "metric" }).describe("A metric's name, e.g. `reward/total`."),
  above: z.number().optional().describe("Ends the stage when the mean over the window is above this."),
  below: z.number().optional().describe("Ends the stage when the mean over the window is below this."),
  window: whole(1)
    .optional()
    .describe("How many of the last values the mean is over; default 10, for `eval/…` 1."),
  patience: whole(1)
    .optional()
    .describe(
      "How many values in a row the bound must hold; default 1. Without a bound: ends the stage when so many values have not improved on the best.",
    ),
  min_delta: z
    .number()
    .nonnegative()
    .default(0)
    .describe("Without a bound: what counts as an improvement is more than this."),
  mode: z
    .enum(["max", "min"])
    .optional()
    .describe("Which way is better; default: what the metric's list says, else max."),
});

export const untilSchema = z.union([
  conditionSchema,
  z.strictObject({
    any: z.array(conditionSchema).min(1).describe("Conditions of which one is enough."),
  }),
  z.strictObject({
    all: z.array(conditionSchema).min(1).describe("Conditions that have to hold at the same time."),
  }),
]);

const share = z.number().nonnegative().default(1).describe("Its weight; they are divided by their sum.");
export const mergeSchema = z
  .array(
    z.union([
      z.strictObject({
        stage: refers({ to: "stage" }).min(1).describe("The policy as that earlier stage left it."),
        weight: share,
      }),
      z.strictObject({
        snapshot: refers({ to: "snapshot" })
          .min(1)
          .describe("The policy as `on_enter: { snapshot: NAME }` kept it."),
        weight: share,
      }),
      z.strictObject({
        checkpoint: refers({ to: "file", ends: [""] })
          .min(1)
          .describe("A checkpoint's folder, relative to this config."),
        weight: share,
      }),
      z.strictObject({
        model: z
          .enum(["policy", "reference"])
          .describe("policy: the weights as they are now; reference: those it is compared with."),
        weight: share,
      }),
    ]),
  )
  .min(1);

export const carryOverSchema = z.strictObject({
  from: z
    .enum(["all", "previous"])
    .default("all")
    .describe("Whose tasks are carried over: those of all earlier stages, or of the one before."),
  share: z.number().gt(0).max(1).default(0.25).describe("Share of a step's prompts that are carried over."),
  weight: z
    .enum(["inverse_success", "inverse_reward", "uniform"])
    .default("inverse_success")
    .describe(
      "How a task is drawn: in proportion to 1 / its success rate, or to 1 / its mean reward, when it was last rolled out; or any alike.",
    ),
  below: z
    .number()
    .gt(0)
    .max(1)
    .default(1)
    .describe("Only tasks whose success rate was below this are carried over."),
  floor: z
    .number()
    .gt(0)
    .default(0.0625)
    .describe("A rate or mean below this counts as this: what a task that always failed is drawn by."),
  unsolved: z
    .enum(["keep", "leave_out"])
    .default("keep")
    .describe("What becomes of tasks that nobody solved: drawn by the floor, or left out."),
  capacity: whole(1).default(4096).describe("How many tasks of a stage are remembered, the latest of them."),
});

const onEnterWords = ["refresh_reference", "reset_optimizer"] as const;
export const onEnterSchema = z.union([
  z.array(z.enum(onEnterWords)),
  z.strictObject({
    reference: z.literal("refresh").optional().describe("The policy of this moment is the new reference."),
    optimizer: z.literal("reset").optional().describe("The optimiser begins afresh, its warm-up included."),
    models: z
      .array(refers({ to: "model" }))
      .optional()
      .describe("Copies (`ema`, `polyak`) that begin anew as the model that they follow is now."),
    snapshot: z
      .string()
      .min(1)
      .optional()
      .describe("Keeps the policy as it is now under this name, for a later merge."),
    merge: mergeSchema
      .optional()
      .describe("The policy becomes the weighted mean of these weights before the stage begins."),
    carry_over: carryOverSchema
      .optional()
      .describe("Some of the stage's prompts are hard tasks of earlier stages."),
  }),
]);

export const crossfadeSchema = z.strictObject({
  over: whole(1).describe("Steps of the stage until only its own tasks and weights are left."),
  shape: z.enum(["linear", "cosine"]).default("linear").describe("How the share moves from 0 to 1."),
  of: z
    .array(z.enum(["tasks", "rewards"]))
    .min(1)
    .default(["tasks", "rewards"])
    .describe("What passes over: which tasks are drawn, and the weights of reward terms."),
});

const alternateSchema = z
  .array(
    z.strictObject({
      stage: refers({ to: "stage" }).min(1).describe("A stage of the list; it then has no turn of its own."),
      steps: whole(1).describe("Its steps in a row."),
    }),
  )
  .min(1);

export const stageFields: Fields = {
  name: { ...value(z.string().min(1), "The stage's name. Unique."), required: true },
  kind: value(
    z.enum(writtenKinds),
    "rl (the default): reinforcement learning; sft: the tasks' written solutions; pretrain: next-token loss on plain text; preference: pairs of answers; reward_model: a model's head learns which of two is better; rlp, rlpt, rmt: reinforcement on plain text; merge: the mean of several weights.",
  ),
  steps: value(whole(1), "Steps of the stage, at most; default for rl: the top-level `steps`."),
  batch: value(
    whole(1),
    "For sft and pretrain: sequences per step; for preference and reward_model: pairs per step. Default 32.",
  ),
  pairs: value(
    z.enum(["dataset", "rollouts"]),
    "For preference and reward_model: where pairs come from. dataset (the default): `chosen` and `rejected` of the tasks; rollouts: answers that the policy writes and the reward tells apart.",
  ),
  trains: value(
    refers({ to: "model" }),
    "For reward_model: the model in `models` whose head learns; it needs `trains: true`.",
  ),
  merge: value(mergeSchema, "For merge: the weights of which the policy becomes the weighted mean."),
  until: value(untilSchema, "Ends the stage early when a metric's mean crosses a value."),
  on_enter: value(onEnterSchema, "What happens as the stage begins."),
  crossfade: value(
    crossfadeSchema,
    "Passes over from the stage before, step by step, in place of a sharp boundary.",
  ),
  alternate: value(
    alternateSchema,
    "Other stages of the list take turns for `steps` steps in all; the stage has no blocks of its own.",
  ),
};
