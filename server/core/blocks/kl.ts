/** The keys of a `kl` entry beside model, direction, estimator and place: where it acts, and how strongly. */
import { z } from "zod";

export const klRows = z.enum(["all", "right", "wrong", "all_right", "all_wrong", "mixed", "distilled"]);

export const klWeight = z.strictObject({
  by: z
    .enum(["certainty", "confidence"])
    .describe(
      "certainty: J^power with J = (log V − H) / log V over a vocabulary of V tokens; confidence: exp(−beta · H), scaled to mean 1 over the tokens on which the entry acts.",
    ),
  entropy_of: z
    .enum(["model", "behaviour"])
    .default("model")
    .describe("Whose entropy H is: the entry's model, or the policy that generated."),
  power: z.number().min(0).default(1).describe("certainty: κ; 0 is no weight at all."),
  beta: z.number().default(1).describe("confidence: β."),
  vocabulary: z
    .number()
    .int()
    .min(2)
    .optional()
    .describe("certainty: V; default: the model's vocabulary. Recorded rollouts do not tell it."),
});
export type KlWeight = z.output<typeof klWeight>;

export const klImportance = z.union([
  z.boolean(),
  z.strictObject({
    level: z
      .enum(["token", "sequence"])
      .default("token")
      .describe(
        "Each token's ratio of now to behaviour, or the exponential of the response's mean log-ratio.",
      ),
    of: z
      .enum(["value", "gradient"])
      .default("value")
      .describe("What is weighed: value and gradient alike, or the gradient alone."),
    detached: z.boolean().default(false).describe("No gradient through the weight."),
    cap: z.number().positive().optional().describe("Greatest weight; default: none."),
  }),
]);
export type KlImportance = Exclude<z.output<typeof klImportance>, boolean>;

export const klAggregate = z.enum(["objective", "token_mean", "sequence_mean", "sequence_sum"]);
export type KlAggregate = z.output<typeof klAggregate>;

export const adaptiveSchema = z.strictObject({
  use: z.literal("adaptive").describe("The coefficient follows the measured divergence."),
  initial: z.number().positive().default(0.2).describe("The coefficient of the first step."),
  target: z
    .number()
    .positive()
    .describe("The divergence aimed at: the mean over responses of what `per` makes of their tokens."),
  per: z
    .enum(["token", "response"])
    .default("token")
    .describe("token: a response's mean over its tokens; response: their sum, e.g. 6 nats."),
  rule: z
    .enum(["proportional", "doubling"])
    .default("proportional")
    .describe(
      "proportional: β ← β (1 + clip(D/target − 1, ±error_clip) · rollouts/horizon); doubling: β is doubled where D exceeds target · tolerance, halved where it is below target / tolerance.",
    ),
  horizon: z
    .number()
    .positive()
    .default(10000)
    .describe("proportional: rollouts over which the error acts once (PPO on preferences: 10000)."),
  gain: z
    .number()
    .positive()
    .optional()
    .describe("proportional: a fixed step in the place of rollouts / horizon; NLPO: 0.1."),
  error_clip: z.number().positive().default(0.2).describe("proportional: bound on the relative error."),
  factor: z.number().gt(1).default(2).describe("doubling: what the coefficient is multiplied or divided by."),
  tolerance: z.number().min(1).default(1.5).describe("doubling: how far from the target nothing happens."),
  least: z.number().nonnegative().default(0).describe("Lower bound of the coefficient."),
  most: z.number().positive().optional().describe("Upper bound of the coefficient; default: none."),
});

export type AdaptiveOptions = z.output<typeof adaptiveSchema>;
