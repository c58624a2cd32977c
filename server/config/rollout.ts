/** Options of decoding that are more than a number: their forms, and what they say. */
import { z } from "zod";
import { schedulable, valueAt, type Scheduled } from "./declaration.ts";
import type { Clock } from "../seams.ts";

export const grammarSchema = z.union([
  z.strictObject({
    regex: z.string().describe("A regular expression that the whole response matches."),
  }),
  z.strictObject({
    choices: z.array(z.string().min(1)).min(1).describe("Texts of which the response is one."),
  }),
]);

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
