/** The values of `objective` that are more than a number or a word. */
import { z } from "zod";
import { schedulable } from "../schedule.ts";

export const entropySchema = z.strictObject({
  coefficient: schedulable(z.number()).describe("Factor on the bonus, which is subtracted from the loss."),
  share: z
    .number()
    .gt(0)
    .max(1)
    .default(1)
    .describe("The bonus acts on this share of the trained tokens: those of highest entropy."),
  low: z.number().optional().describe("Tokens of lower entropy have no bonus, in nats; default: no bound."),
  high: z.number().optional().describe("Tokens of higher entropy have no bonus, in nats; default: no bound."),
  aggregate: z
    .enum(["objective", "token_mean"])
    .default("objective")
    .describe("Averaged as the objective is, or as the mean over the tokens it acts on (TRL)."),
  adaptive: z
    .strictObject({
      target: z
        .number()
        .nonnegative()
        .default(0.2)
        .describe("Entropy, in nats, above which there is no bonus."),
      delta: z
        .number()
        .positive()
        .default(0.005)
        .describe("What each update adds to the coefficient below the target, and takes off above."),
      least: z.number().default(0).describe("Lower bound of the coefficient."),
      most: z.number().default(1).describe("Upper bound of the coefficient."),
    })
    .optional()
    .describe("The coefficient follows the measured entropy, from `coefficient` on (TRL)."),
});

export type EntropyOptions = z.output<typeof entropySchema>;
