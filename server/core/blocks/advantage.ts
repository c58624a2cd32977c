/** The values of `advantage` that are more than a number or a word. */
import { z } from "zod";

export const clipSchema = z.union([
  z.literal("none"),
  z.strictObject({
    low: z.number().max(0).default(-10).describe("Least value; OpenRLHF: −10."),
    high: z.number().min(0).default(10).describe("Greatest value; OpenRLHF: 10."),
  }),
]);

export type AdvantageClip = z.output<typeof clipSchema>;

const filterOptions = z.strictObject({
  sigma: z
    .number()
    .positive()
    .optional()
    .describe("Advantages further than so many standard deviations from the step's mean become 0."),
  beyond: z.number().positive().optional().describe("Advantages larger than this, either way, become 0."),
  keep: z
    .enum(["positive", "negative", "nonzero"])
    .optional()
    .describe("Only these train; the others have no advantage, and count in no normaliser."),
  above: z.number().optional().describe("Only advantages above this train."),
  top: z
    .number()
    .gt(0)
    .max(1)
    .optional()
    .describe("Only the rollouts in the highest share by their mean advantage train, e.g. 0.1."),
});

export const filterSchema = z.union([z.literal("none"), filterOptions]);

export type AdvantageFilter = z.output<typeof filterSchema>;

export const whitenOptions = z.strictObject({
  over: z
    .enum(["responses", "tokens"])
    .default("tokens")
    .describe("What counts once in mean and spread: each unit of the level, or each token that trains."),
  center: z.boolean().default(true).describe("Whether the mean is subtracted."),
  scale: z.boolean().default(true).describe("Whether it is divided by the standard deviation."),
  population: z.boolean().default(false).describe("Divide by n instead of n − 1."),
  epsilon: z.number().nonnegative().optional().describe("ε; default 1e-8 over tokens, 1e-4 over responses."),
  inside: z
    .enum(["variance", "deviation", "floor"])
    .optional()
    .describe(
      "Where ε stands: √(var + ε) (verl), std + ε (TRL), or √max(var, ε) (OpenRLHF). Default: verl's over tokens, TRL's over responses.",
    ),
});

export const whitenSchema = z.union([z.enum(["none", "responses", "tokens"]), whitenOptions]);

export type Whiten = z.output<typeof whitenSchema>;
