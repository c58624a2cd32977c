import { z } from "zod";
import { objective, param } from "../../../core/declaration.ts";
import type { Objective } from "../../../core/loss.ts";
import { anchorParam, betaParam } from "../anchor.ts";
import { logSigmoid, sigmoid } from "../numbers.ts";
import { pairing } from "../../../core/slots/objective.ts";
import { overPairs, pairsOf, unitOf, type Pairs } from "./pairs.ts";
import { anchorModels, rowSums, type RowSums } from "../rowLevel.ts";

/** Halfway between the mean rewards of the better and the worse answers; held constant. */
function middle({ better, worse }: Pairs, { value }: RowSums, beta: number): number {
  let sum = 0;
  for (let k = 0; k < better.length; k++) sum += value[better[k]!]! + value[worse[k]!]!;
  return better.length === 0 ? 0 : (beta * sum) / (2 * better.length);
}

export const bco = objective({
  name: "bco",
  aliases: ["bco_pair"],
  summary:
    "A classifier of good and bad answers whose logit is the answer's log-ratio; each answer is classified alone.",
  formula: "ℓ = −log σ(x_b − δ) − log σ(δ − x_w), x = β log π/π_ref",
  sources: ["Binary Classifier Optimization for Large Language Model Alignment"],
  params: z.object({
    beta: betaParam(0.1),
    anchor: anchorParam("reference"),
    pairs: pairing(),
    shift: param(
      z.enum(["none", "batch"]).default("none"),
      "δ. none: 0, as TRL's `bco_pair`; batch: halfway between the batch's better and worse answers, held constant.",
    ),
  }),
  create: ({ beta, anchor, pairs, shift }): Objective => ({
    channels: ["logp"],
    unit: unitOf(pairs),
    models: anchorModels(anchor),
    loss(input) {
      const sums = rowSums(input, anchor);
      const compared = pairsOf(input, pairs);
      const delta = shift === "none" ? 0 : middle(compared, sums, beta);
      return overPairs(input, compared, sums, (a, b) => {
        const [better, worse] = [beta * sums.value[a]! - delta, beta * sums.value[b]! - delta];
        return {
          loss: -logSigmoid(better) - logSigmoid(-worse),
          better: -beta * sigmoid(-better),
          worse: beta * sigmoid(worse),
        };
      });
    },
  }),
});
