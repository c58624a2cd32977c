import { z } from "zod";
import { objective, param } from "../../../core/declaration.ts";
import type { Objective } from "../../../core/loss.ts";
import { anchorParam } from "../anchor.ts";
import { pairing } from "../../../core/slots/objective.ts";
import { overPairs, pairsOf, unitOf } from "../pairs/pairs.ts";
import { anchorModels, rowScores, rowSums } from "../rowLevel.ts";

export const refuel = objective({
  name: "refuel",
  aliases: ["rebel", "relative_future"],
  summary:
    "The difference of two answers' log-ratios to the weights that generated them, divided by η, is regressed on the difference of their rewards.",
  formula: "ℓ = ((Δ − Δ′)/η − (R − R′))², Δ = Σ log π/π_t",
  sources: [
    "Regressing the Relative Future: Efficient Policy Optimization for Multi-turn RLHF",
    "REBEL: Reinforcement Learning via Regressing Relative Rewards",
  ],
  params: z.object({
    eta: param(
      z.number().positive().default(1),
      "Step size η: the log-ratio that a reward difference of 1 is worth.",
    ),
    anchor: anchorParam("behaviour"),
    pairs: pairing(),
    form: param(
      z.enum(["paper", "released"]).default("paper"),
      "released: (Δ − Δ′ − η (R − R′))², which is η² times the paper's.",
    ),
  }),
  create: ({ eta, anchor, pairs, form }): Objective => ({
    channels: ["logp"],
    unit: unitOf(pairs),
    models: anchorModels(anchor),
    loss(input) {
      const sums = rowSums(input, anchor);
      const scores = rowScores(input);
      const [left, right] = form === "paper" ? [1 / eta, 1] : [1, eta];
      return overPairs(input, pairsOf(input, pairs, true), sums, (a, b) => {
        const residual = left * (sums.value[a]! - sums.value[b]!) - right * (scores[a]! - scores[b]!);
        return { loss: residual * residual, better: 2 * left * residual, worse: -2 * left * residual };
      });
    },
  }),
});
