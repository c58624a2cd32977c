import { z } from "zod";
import { schedulable, valueAt } from "../../../core/schedule.ts";
import { sampler, param } from "../../../core/declaration.ts";
import { largest } from "../numbers.ts";
import { optimistic, shares, type Columns } from "../fast/columns.ts";
import { independent } from "../fast/independent.ts";
import { softmaxWeights, type Softmax } from "../fast/softmax.ts";

/** The logarithms of the weights: μ may be smaller than any double, and the weight is not. */
function repelled(columns: Columns, base: Softmax, alpha: number): Softmax {
  const { groups, open, totals } = columns;
  const weights = softmaxWeights(base, open);
  const mu = shares(weights, open);
  const top = largest(base.values.map((q, of) => (open[of] === 0 ? Number.NaN : q)));
  const sum = weights.reduce((total, weight, of) => total + weight * open[of]!, 0);
  const logOf = (q: number): number => (q === top ? 0 : (q - top) / base.temperature) - Math.log(sum);
  const values = base.values.map((q, of) =>
    groups[of] === 0
      ? logOf(q) + alpha * Math.log(totals.groups + 1)
      : (1 + alpha) * logOf(q) - alpha * Math.log((groups[of]! + mu[of]!) / (totals.groups + 1)),
  );
  return { values, temperature: 1 };
}

export const selfRepellent = sampler({
  name: "self_repellent",
  summary:
    "Corrects the uniform or the Boltzmann sampler: arms drawn more often than their share are drawn less.",
  formula:
    "p(a) ∝ μ(a) (x(a)/μ(a))^−α; x = (drawn + μ)/(Σ drawn + 1), μ the task weights' shares, or softmax(Q/τ) where there is a τ",
  sources: ["Accelerating Distributed Stochastic Optimization via Self-Repellent Random Walks"],
  status: "approximate",
  params: z.object({
    repulsion: param(schedulable(z.number().min(0)).default(1), "α; 0: none."),
    temperature: param(
      schedulable(z.number().positive()).optional(),
      "τ of the Boltzmann sampler that is corrected; default: the uniform one is.",
    ),
  }),
  create: ({ repulsion, temperature }) =>
    independent(
      ["groups", temperature === undefined ? "prior" : "estimate"],
      (columns, [alpha = 1, tau]) => {
        const { groups, open, totals } = columns;
        if (tau !== undefined)
          return repelled(columns, { values: optimistic(columns), temperature: tau }, alpha);
        return shares(columns.priors, open).map((mu, of) =>
          mu === 0 ? 0 : mu * ((groups[of]! + mu) / (totals.groups + 1) / mu) ** -alpha,
        );
      },
      (clock) => [
        valueAt(repulsion, clock),
        ...(temperature === undefined ? [] : [valueAt(temperature, clock)]),
      ],
    ),
});
