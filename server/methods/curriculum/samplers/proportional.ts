import { z } from "zod";
import { sampler, param } from "../../../core/declaration.ts";
import { optimistic, shares } from "../fast/columns.ts";
import { independent } from "../fast/independent.ts";

export const proportional = sampler({
  name: "proportional",
  summary: "Draws arms in proportion to their estimates, plus a floor shared by all arms.",
  formula: "p(a) = floor/n + (1 − floor) max(Q(a), 0) / Σ_b max(Q(b), 0)",
  sources: ["Kimi k1.5: Scaling Reinforcement Learning with LLMs"],
  takes: ["estimate"],
  params: z.object({
    floor: param(z.number().min(0).max(1).default(0.1), "Probability spread evenly over all arms."),
  }),
  create: ({ floor }) =>
    independent(["estimate"], (columns) => {
      const { open, size } = columns;
      const positive = optimistic(columns).map((q) => Math.max(q, 0));
      const even = shares(new Float64Array(size).fill(1), open);
      return shares(positive, open).map((p, of) => floor * even[of]! + (1 - floor) * p);
    }),
});
