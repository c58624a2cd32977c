/** The keys of a `kl` entry: from which model, how it is estimated, where it acts, and how strongly. */
import { z } from "zod";
import { param } from "../declaration.ts";
import { alwaysModels, refers } from "../references.ts";
import { schedulable } from "../schedule.ts";
import { klRows } from "../slots/kl.ts";
import { choice, entry, list, made, moving, value, whole } from "./kinds.ts";
import { teacherContext, teacherContextOf } from "./teacherContext.ts";

const klWeight = z.strictObject({
  by: param(
    z.enum(["certainty", "confidence"]),
    "certainty: J^power, where J = (log V − H) / log V over a vocabulary of V tokens; confidence: exp(−beta · H), scaled to mean 1 over the tokens on which the entry acts.",
  ),
  entropy_of: param(
    z.enum(["model", "behaviour"]).default("model"),
    "Whose entropy H is: the entry's model's, or the behaviour policy's.",
  ),
  power: param(z.number().min(0).default(1), "certainty: κ; 0 turns the weight off."),
  beta: param(z.number().default(1), "confidence: β."),
  vocabulary: param(
    z.number().int().min(2).optional(),
    "certainty: V; default: the model's vocabulary. Recorded rollouts do not contain it.",
  ),
});
export type KlWeight = z.output<typeof klWeight>;

const klImportance = z.union([
  z.boolean(),
  z.strictObject({
    level: param(
      z.enum(["token", "sequence"]).default("token"),
      "Each token's ratio of the policy to the behaviour policy, or the exponential of the response's mean log-ratio.",
    ),
    of: param(
      z.enum(["value", "gradient"]).default("value"),
      "What is weighted: value and gradient, or the gradient alone.",
    ),
    detached: param(z.boolean().default(false), "Whether the gradient stops at the weight."),
    cap: param(z.number().positive().optional(), "Upper bound of the weight. Default: none."),
  }),
]);
export type KlImportance = Exclude<z.output<typeof klImportance>, boolean>;

const klAggregate = z.enum(["objective", "token_mean", "sequence_mean", "sequence_sum"]);
export type KlAggregate = z.output<typeof klAggregate>;

export const adaptiveSchema = z.strictObject({
  use: param(z.literal("adaptive"), "The coefficient adapts to the measured divergence."),
  initial: param(z.number().positive().default(0.2), "The coefficient in the first step."),
  target: param(
    z.number().positive(),
    "The divergence to aim at: the mean over responses of what `per` makes of their tokens.",
  ),
  per: param(
    z.enum(["token", "response"]).default("token"),
    "token: a response's mean over its tokens; response: their sum, e.g. 6 nats.",
  ),
  rule: param(
    z.enum(["proportional", "doubling"]).default("proportional"),
    "proportional: β ← β (1 + clip(D/target − 1, ±error_clip) · rollouts/horizon); doubling: β is doubled where D exceeds target · tolerance, halved where it is below target / tolerance.",
  ),
  horizon: param(
    z.number().positive().default(10000),
    "proportional: rollouts over which the error acts once (PPO on preferences: 10000).",
  ),
  gain: param(
    z.number().positive().optional(),
    "proportional: a fixed step instead of rollouts / horizon; NLPO: 0.1.",
  ),
  error_clip: param(z.number().positive().default(0.2), "proportional: bound on the relative error."),
  factor: param(
    z.number().gt(1).default(2),
    "doubling: the factor by which the coefficient is multiplied or divided.",
  ),
  tolerance: param(
    z.number().min(1).default(1.5),
    "doubling: the ratio to the target within which the coefficient stays.",
  ),
  least: param(z.number().nonnegative().default(0), "Lower bound of the coefficient."),
  most: param(z.number().positive().optional(), "Upper bound of the coefficient. Default: none."),
});

export type AdaptiveOptions = z.output<typeof adaptiveSchema>;

const item = entry({
  model: value(
    refers({ to: "model", also: alwaysModels }),
    "The other model. `reference`: the policy as it enters the first rl stage.",
    { default: "reference" },
  ),
  direction: value(
    z.enum(["reverse", "forward"]),
    "reverse: KL(policy ‖ model); forward: KL(model ‖ policy).",
    { default: "reverse" },
  ),
  estimator: choice("kl", "How the divergence is estimated from log-probs.", { default: "k3" }),
  place: value(
    z.enum(["reward", "loss"]),
    "Whether the divergence is subtracted from the reward per token, or added to the loss.",
    { default: "loss" },
  ),
  coefficient: moving(
    z.union([...schedulable(z.number().nonnegative()).options, adaptiveSchema]).meta({ schedulable: true }),
    "Factor β on the divergence: a number, a schedule, or `{ use: adaptive, target, … }`.",
    { default: 0.001, live: true },
  ),
  mask: value(
    z.enum(klRows),
    "Rollouts on which the entry acts: all; those that succeeded or failed (right, wrong); groups in which all, none or some rollouts succeeded (all_right, all_wrong, mixed); or those that `route` sends to distillation (distilled).",
    { default: "all" },
  ),
  shown: made(
    value(
      teacherContext,
      "Teacher context: what the other model reads in addition to the prompt. It is a rollout of the group that succeeded or failed (sibling, wrong_sibling), the task's solution or answer, a field, or `{ what, nth, field, template }`. The entry acts only where that exists. Default: nothing.",
    ),
    (entry) => (entry === undefined ? undefined : teacherContextOf(entry)),
  ),
  turns: value(
    z.array(whole(0)).min(1),
    "The assistant's turns on which the entry acts, counted from 0. Default: all.",
  ),
  weight: value(klWeight, "Factor on each token by how certain a model was."),
  importance_weighted: value(
    klImportance,
    "Multiplies the divergence by the ratio of the policy to the behaviour policy, for rollouts older than the policy (TRL: use_bias_correction_kl).",
    { default: false },
  ),
  aggregate: value(klAggregate, "The normaliser: the objective's, or another one.", { default: "objective" }),
});

export const kl = list("KL entry", item, "Penalties on the policy's divergence from other models.");
