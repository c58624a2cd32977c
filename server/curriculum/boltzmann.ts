import { z } from "zod";
import { sampler, schedulable, valueAt } from "../config/declaration.ts";
import { normalised, optimistic } from "./draws.ts";
import { by } from "./sampling.ts";

export const boltzmann = sampler({
  name: "boltzmann",
  summary: "Draws arm a with probability softmax(estimate / temperature).",
  formula: "p(a) = exp(Q(a)/τ) / Σ_b exp(Q(b)/τ)",
  sources: ["Self-Evolving Curriculum for LLM Reasoning"],
  params: z.object({
    temperature: schedulable(z.number().positive()).default(1).describe("τ; 0.2 to 1 in the source."),
  }),
  create: ({ temperature }) =>
    by((estimates, clock) => {
      const tau = valueAt(temperature, clock);
      const known = optimistic(estimates);
      const top = Math.max(...known.values());
      // With τ scheduled to 0 only the best arms remain.
      return normalised(
        new Map([...known].map(([arm, q]) => [arm, tau > 0 ? Math.exp((q - top) / tau) : q === top ? 1 : 0])),
      );
    }),
});
