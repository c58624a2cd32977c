import { z } from "zod";
import { sampler, schedulable, valueAt } from "../../config/declaration.ts";
import { largest } from "../numbers.ts";
import { optimistic } from "./columns.ts";
import { independent } from "./independent.ts";

/** exp((q − max q)/τ) by arm, unnormalised; with τ = 0 only the best arms remain. */
export function softmaxWeights(values: Float64Array, temperature: number): Float64Array {
  const top = largest(values);
  return values.map((q) => (temperature > 0 ? Math.exp((q - top) / temperature) : q === top ? 1 : 0));
}

export const boltzmann = sampler({
  name: "boltzmann",
  summary: "Draws arm a with probability softmax(estimate / temperature).",
  formula: "p(a) = exp(Q(a)/τ) / Σ_b exp(Q(b)/τ)",
  sources: ["Self-Evolving Curriculum for LLM Reasoning"],
  takes: ["estimate"],
  params: z.object({
    temperature: schedulable(z.number().positive()).default(1).describe("τ; 0.2 to 1 in the source."),
  }),
  create: ({ temperature }) =>
    independent(
      ["value"],
      (columns, [now = 1]) => softmaxWeights(optimistic(columns), now),
      (clock) => [valueAt(temperature, clock)],
    ),
});
