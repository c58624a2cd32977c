import { z } from "zod";
import { replayDraw, param } from "../../../core/declaration.ts";
import type { Past } from "../../../core/slots/replay.ts";
import { withReplacement } from "./drawing.ts";

const measures = {
  abs_advantage: ({ advantage }: Past) => Math.abs(advantage),
  advantage: ({ advantage }: Past) => Math.max(0, advantage),
  reward: ({ reward }: Past) => Math.max(0, reward),
  short: ({ length }: Past) => 1 / Math.max(1, length),
  new: ({ age }: Past) => 1 / (1 + age),
  unseen: ({ draws }: Past) => 1 / (1 + draws),
} as const;

export const drawPriority = replayDraw({
  name: "priority",
  aliases: ["prioritised"],
  summary:
    "Draws rollouts with replacement, likelier ones by a measure. Importance weights, the largest of which is 1, correct each rollout's loss for how likely its draw was.",
  formula: "p_i = (m_i + ε)^α / Σ_j (m_j + ε)^α, w_i = (N p_i)^−β / max_j w_j",
  sources: [
    "Prioritized Experience Replay",
    "Improving Language Models with Advantage-based Offline Policy Gradients",
  ],
  params: z.object({
    by: param(
      z.enum(["abs_advantage", "advantage", "reward", "short", "new", "unseen"]).default("abs_advantage"),
      "m: |A|; the positive part of A or R; 1/length; 1/(1 + age); 1/(1 + draws).",
    ),
    alpha: param(z.number().nonnegative().default(1), "α; 0: uniform."),
    beta: param(
      z.number().min(0).max(1).default(0),
      "β: strength of the importance weights; 0: none, 1: full.",
    ),
    epsilon: param(
      z.number().nonnegative().default(1e-6),
      "ε: keeps every draw possible. It must be above 0 if the measure can be 0 for all rollouts.",
    ),
  }),
  create: ({ by, alpha, beta, epsilon }) => {
    const weightOf = (past: Past): number => {
      const measure = measures[by](past);
      return Number.isFinite(measure) ? (measure + epsilon) ** alpha : 0;
    };
    return (kept, n, random) => {
      const weights = Float64Array.from(kept, weightOf);
      const sum = weights.reduce((total, weight) => total + weight, 0);
      // The rarest of those that can come has the largest correction.
      const least = weights.reduce(
        (min, weight) => (weight > 0 ? Math.min(min, weight) : min),
        Number.POSITIVE_INFINITY,
      );
      return sum > 0
        ? withReplacement(weights, n, random).map((index) => ({
            index,
            weight: (least / weights[index]!) ** beta,
          }))
        : [];
    };
  },
});
