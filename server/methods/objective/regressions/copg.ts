import { z } from "zod";
import { objective } from "../../../core/declaration.ts";
import type { Weighed } from "../../../core/policy.ts";
import type { Objective, ObjectiveInput } from "../../../core/loss.ts";
import { anchorParam, betaParam } from "../anchor.ts";
import { pairing, type Pairing } from "../../../core/slots/objective.ts";
import { overPairs, pairsOf, unitOf } from "../pairs/pairs.ts";
import { anchorModels, rowScores, rowSums, type Anchor } from "../rowLevel.ts";

function loss(input: ObjectiveInput, beta: number, anchor: Anchor, how: Pairing): Weighed {
  const sums = rowSums(input, anchor);
  const scores = rowScores(input);
  return overPairs(input, pairsOf(input, how, true), sums, (a, b) => {
    const residual = scores[a]! - scores[b]! - beta * (sums.value[a]! - sums.value[b]!);
    return { loss: 0.5 * residual * residual, better: -beta * residual, worse: beta * residual };
  });
}

export const copg = objective({
  name: "copg",
  summary:
    "Makes two rollouts' rewards, each minus β times its log-ratio, equal: a policy gradient on any data.",
  formula: "ℓ = ½ (R_β(y) − R_β(y′))², R_β(y) = R(y) − β Σ log π/π_ref",
  sources: [
    "Contrastive Policy Gradient: Aligning LLMs on sequence-level scores in a supervised-friendly fashion",
  ],
  params: z.object({
    beta: betaParam(0.1),
    anchor: anchorParam("reference"),
    pairs: pairing("all"),
  }),
  create: ({ beta, anchor, pairs }): Objective => ({
    channels: ["logp"],
    unit: unitOf(pairs),
    models: anchorModels(anchor),
    loss: (input) => loss(input, beta, anchor, pairs),
  }),
});
