import { z } from "zod";
import { objective } from "../config/declaration.ts";
import type { Objective } from "../seams.ts";
import { anchorParam, betaParam } from "./anchor.ts";
import { logSigmoid, sigmoid } from "./numbers.ts";
import { overPairs, pairing, pairsOf, unitOf } from "./pairs.ts";
import { anchorModels, rowSums } from "./rowLevel.ts";

export const exo = objective({
  name: "exo",
  aliases: ["exo_pair"],
  summary:
    "Reverse KL between the policy's preference over a pair and a smoothed label, where DPO takes the forward one.",
  formula: "ℓ = KL(q ‖ p), q = (σ(x), σ(−x)), x = β(Δ_better − Δ_worse), p = (1 − ε, ε)",
  sources: ["Towards Efficient Exact Optimization of Language Model Alignment"],
  params: z.object({
    beta: betaParam(0.1),
    anchor: anchorParam("reference"),
    pairs: pairing(),
    label_smoothing: z
      .number()
      .gt(0)
      .lt(0.5)
      .default(0.001)
      .describe("Probability ε of the worse answer under the label."),
  }),
  create: ({ beta, anchor, pairs, label_smoothing: flipped }): Objective => ({
    channels: ["logp"],
    unit: unitOf(pairs),
    models: anchorModels(anchor),
    loss(input) {
      const sums = rowSums(input, anchor);
      return overPairs(input, pairsOf(input, pairs), sums, (a, b) => {
        const x = beta * (sums.value[a]! - sums.value[b]!);
        const [right, wrong] = [sigmoid(x), sigmoid(-x)];
        const surprise = logSigmoid(x) - Math.log1p(-flipped) - (logSigmoid(-x) - Math.log(flipped));
        const slope = beta * right * wrong * surprise;
        return {
          loss: right * (logSigmoid(x) - Math.log1p(-flipped)) + wrong * (logSigmoid(-x) - Math.log(flipped)),
          better: slope,
          worse: -slope,
        };
      });
    },
  }),
});
