/** Options of decoding that are more than a number: their forms, and what they say. */
import { z } from "zod";
import { isPattern } from "../../lib/textSpans.ts";
import { schedulable, valueAt, type Scheduled } from "../schedule.ts";
import { refers } from "../references.ts";
import type { Clock } from "../basics.ts";

export const grammarSchema = z.union([
  z.strictObject({
    regex: z.string().describe("A regular expression that the whole response matches."),
  }),
  z.strictObject({
    choices: z.array(z.string().min(1)).min(1).describe("Texts of which the response is one."),
  }),
]);

const regex = z.string().min(1);
const hasPattern = ({ regex }: { readonly regex: string }): boolean => isPattern(regex);
const noPattern = {
  path: ["regex"],
  message: "must be a regular expression as in JavaScript, without slashes",
};

/** What ends a step of a response. */
export const stepsSchema = z.union([
  z.string().min(1).describe("The text that ends a step, and belongs to it."),
  z
    .strictObject({ regex: regex.describe("A regular expression whose matches end a step.") })
    .refine(hasPattern, noPattern),
]);
export type StepEnd = z.output<typeof stepsSchema>;

/** Where spans of a response are found, by their names. */
export const spansSchema = z.record(
  z.string().regex(/^[A-Za-z_]\w*$/),
  z.union([
    z
      .strictObject({
        regex: regex.describe(
          "A regular expression over the response, as in JavaScript; its first group, where it has one.",
        ),
        flags: z
          .string()
          .regex(/^[imsu]*$/)
          .default("")
          .describe("Flags of the expression: i, m, s, u."),
      })
      .refine(hasPattern, noPattern),
    z.strictObject({
      open: z.string().min(1).describe("The text that a span begins behind."),
      close: z
        .string()
        .min(1)
        .describe("The text that a span ends before; without it, at the response's end."),
    }),
  ]),
);
export type SpanRules = z.output<typeof spansSchema>;

/** Exploratory annealed decoding (Let it Calm: Exploratory Annealed Decoding for Verifiable Reinforcement Learning). */
export const annealSchema = z.strictObject({
  to: z.number().positive().default(0.1).describe("The lowest temperature, τ_min."),
  decay: schedulable(z.number().positive())
    .default(25)
    .describe("d in tokens: the larger, the later the temperature falls. It may grow over steps."),
  start: z
    .number()
    .int()
    .nonnegative()
    .default(10)
    .describe("Tokens at a response's beginning that keep `temperature` as it is."),
});
export type Anneal = Omit<z.output<typeof annealSchema>, "decay"> & { readonly decay: Scheduled };

/** What a reward term scores of an episode of several attempts. */
export const termAttempts = z.enum(["last", "each", "best", "sum", "episode"]);
export type TermAttempts = z.output<typeof termAttempts>;

/** Logits perturbed by Qs (Offline RL for Natural Language Generation with Implicit Language Q Learning). */
export const perturbSchema = z.strictObject({
  heads: z
    .array(refers({ to: "head" }).min(1))
    .min(1)
    .describe("Heads with a value for every word (`words: true`), of which the least counts."),
  beta: z.number().min(0).default(1).describe("β: what the values are multiplied by."),
});
export type Perturb = z.output<typeof perturbSchema>;

/**
 * The temperature of a response's token t: `temperature` up to `start`, then max(to, 1 + temperature − exp((t − start)/d)).
 * It is continuous, and falls from its value at the start.
 */
export function annealed(
  temperature: number,
  { to, decay, start }: Anneal,
  clock: Clock,
): (t: number) => number {
  const d = valueAt(decay, clock);
  return (t) => (t <= start ? temperature : Math.max(to, 1 + temperature - Math.exp((t - start) / d)));
}

export type GrammarSpec = { readonly regex: string } | { readonly choices: readonly string[] };
