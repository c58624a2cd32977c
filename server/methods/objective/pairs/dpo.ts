import { z } from "zod";
import { objective, param } from "../../../core/declaration.ts";
import type { Weighed } from "../../../core/policy.ts";
import type { Objective, ObjectiveInput } from "../../../core/loss.ts";
import { anchorParam, betaParam } from "../anchor.ts";
import { divergenceParam, scored } from "./divergence.ts";
import { linked, linkParams } from "./links.ts";
import { pairing } from "../../../core/slots/objective.ts";
import { overPairs, pairsOf, unitOf } from "./pairs.ts";
import { anchorModels, rowAdvantages, rowScores, rowSums } from "../rowLevel.ts";

const params = z.object({
  beta: betaParam(0.1),
  anchor: anchorParam("reference", ", or `none`: no reference at all"),
  pairs: pairing(),
  ...linkParams,
  margin: param(z.number().default(0), "Constant subtracted from the logit: the margin between the two."),
  alpha: param(
    z.number().min(0).default(0),
    "Factor on the difference of the two advantages, which is subtracted from the logit: Step-APO.",
  ),
  weight: param(
    z.enum(["none", "difference"]).default("none"),
    "difference: a pair is weighted by the difference of its rewards (weighted DPO).",
  ),
  divergence: divergenceParam,
  normalise: param(
    z.boolean().default(false),
    "Divides each log-ratio by its answer's trained tokens (TRL's sigmoid_norm; SimPO without an anchor).",
  ),
});
type Params = z.output<typeof params>;

function loss(input: ObjectiveInput, options: Params): Weighed {
  const { beta, anchor, pairs, margin, alpha, weight, divergence, normalise } = options;
  const sums = scored(rowSums(input, anchor), divergence, normalise);
  const advantages = rowAdvantages(input);
  const scores = rowScores(input);
  return overPairs(input, pairsOf(input, pairs), sums, (a, b) => {
    const apart = margin + (alpha === 0 ? 0 : alpha * (advantages[a]! - advantages[b]!));
    const [value, slope] = linked(beta * (sums.value[a]! - sums.value[b]!) - apart, options);
    const share = weight === "none" ? 1 : scores[a]! - scores[b]!;
    return { loss: share * value, better: share * beta * slope, worse: -share * beta * slope };
  });
}

export const dpo = objective({
  name: "dpo",
  aliases: ["online_dpo", "step_apo", "weighted_dpo"],
  summary:
    "A logistic loss on pairs: relative to a reference, the better of two answers should be likelier than the worse.",
  formula: "ℓ = −log σ(β(Δ_better − Δ_worse) − margin − α(A_better − A_worse)), Δ = Σ log π/π_ref",
  sources: [
    "Direct Preference Optimization: Your Language Model is Secretly a Reward Model",
    "Asynchronous RLHF: Faster and More Efficient Off-Policy RL for Language Models",
    "Provably Robust DPO: Aligning Language Models with Noisy Feedback",
    "Beyond Reverse KL: Generalizing Direct Preference Optimization with Diverse Divergence Constraints",
    "Discovering Preference Optimization Algorithms with and for Large Language Models",
    "CPL: Critical Plan Step Learning Boosts LLM Generalization in Reasoning Tasks",
  ],
  params,
  create: (options): Objective => ({
    channels: ["logp"],
    unit: unitOf(options.pairs),
    models: anchorModels(options.anchor),
    loss: (input) => loss(input, options),
  }),
});
