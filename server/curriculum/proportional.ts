import { z } from "zod";
import { sampler } from "../config/declaration.ts";
import { normalised, optimistic } from "./draws.ts";
import { by } from "./sampling.ts";

export const proportional = sampler({
  name: "proportional",
  summary: "In proportion to the estimate, with a floor shared by all arms.",
  formula: "p(a) = floor/n + (1 − floor) max(Q(a), 0) / Σ_b max(Q(b), 0)",
  sources: ["Kimi k1.5: Scaling Reinforcement Learning with LLMs"],
  params: z.object({
    floor: z.number().min(0).max(1).default(0.1).describe("Probability spread evenly over all arms."),
  }),
  create: ({ floor }) =>
    by((estimates) => {
      const shares = normalised(new Map([...optimistic(estimates)].map(([arm, q]) => [arm, Math.max(q, 0)])));
      return new Map([...shares].map(([arm, p]) => [arm, floor / shares.size + (1 - floor) * p]));
    }),
});
