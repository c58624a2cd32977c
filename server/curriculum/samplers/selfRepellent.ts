import { z } from "zod";
import { sampler, schedulable, valueAt } from "../../config/declaration.ts";
import { softmaxWeights } from "./boltzmann.ts";
import { optimistic, shares } from "./columns.ts";
import { independent } from "./independent.ts";

export const selfRepellent = sampler({
  name: "self_repellent",
  summary:
    "Draws less of what was drawn more than its share: a correction of the uniform or the Boltzmann sampler.",
  formula:
    "p(a) ∝ μ(a) (x(a)/μ(a))^−α; x = (drawn + μ)/(Σ drawn + 1), μ the task weights' shares, or softmax(Q/τ) where there is a τ",
  sources: ["Accelerating Distributed Stochastic Optimization via Self-Repellent Random Walks"],
  status: "approximate",
  params: z.object({
    repulsion: schedulable(z.number().min(0)).default(1).describe("α; 0: none."),
    temperature: schedulable(z.number().positive())
      .optional()
      .describe("τ of the Boltzmann sampler that is corrected; default: the uniform one is."),
  }),
  create: ({ repulsion, temperature }) =>
    independent(
      ["drawn", temperature === undefined ? "prior" : "value"],
      (columns, [alpha = 1, tau]) => {
        const { drawn, open, allDrawn } = columns;
        const base = tau === undefined ? columns.prior : softmaxWeights(optimistic(columns), tau);
        return shares(base, open).map((mu, of) =>
          mu === 0 ? 0 : mu * ((drawn[of]! + mu) / (allDrawn + 1) / mu) ** -alpha,
        );
      },
      (clock) => [
        valueAt(repulsion, clock),
        ...(temperature === undefined ? [] : [valueAt(temperature, clock)]),
      ],
    ),
});
