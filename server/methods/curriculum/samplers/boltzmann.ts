import { z } from "zod";
import { schedulable, valueAt } from "../../../core/schedule.ts";
import { sampler, param } from "../../../core/declaration.ts";
import { optimistic } from "../fast/columns.ts";
import { independent } from "../fast/independent.ts";

export const boltzmann = sampler({
  name: "boltzmann",
  summary: "Draws arm a with probability softmax(estimate / temperature).",
  formula: "p(a) = exp(Q(a)/τ) / Σ_b exp(Q(b)/τ)",
  sources: ["Self-Evolving Curriculum for LLM Reasoning"],
  takes: ["estimate"],
  params: z.object({
    temperature: param(schedulable(z.number().positive()).default(1), "τ; 0.2 to 1 in the source."),
  }),
  create: ({ temperature }) =>
    independent(
      ["estimate"],
      (columns, [now = 1]) => ({ values: optimistic(columns), temperature: now }),
      (clock) => [valueAt(temperature, clock)],
    ),
});
