import { z } from "zod";
import { rowsOfGroups } from "../../../core/rows/batch.ts";
import { objective, param } from "../../../core/declaration.ts";
import type { Weighed } from "../../../core/policy.ts";
import type { Objective, ObjectiveInput } from "../../../core/loss.ts";
import { rowScores, rowSums, spread } from "../rowLevel.ts";

const params = z.object({
  length_normalise: param(
    z.boolean().default(true),
    "Rank by log-prob per token instead of by the answer's whole log-prob.",
  ),
  margin: param(z.number().min(0).default(0), "Margin between two log-probs."),
  sft: param(
    z.number().min(0).default(1),
    "Factor on the best answer's negative log-likelihood, which is per token if ranks are.",
  ),
});

function loss(input: ObjectiveInput, { length_normalise, margin, sft }: z.output<typeof params>): Weighed {
  const sums = rowSums(input, "none", length_normalise);
  const scores = rowScores(input);
  const slopes = new Float64Array(input.batch.rows);
  const groups = rowsOfGroups(input.batch)
    .map((rows) => rows.filter((row) => !Number.isNaN(scores[row]!)))
    .filter((rows) => rows.length > 0);
  let total = 0;
  const pull = (row: number, value: number, slope: number): void => {
    total += value / groups.length;
    slopes[row]! += slope / groups.length;
  };
  for (const rows of groups) {
    const best = rows.reduce((a, b) => (scores[b]! > scores[a]! ? b : a));
    if (sft > 0) pull(best, -sft * sums.value[best]!, -sft);
    for (const low of rows)
      for (const high of rows) {
        const gap = sums.value[low]! - sums.value[high]! + margin;
        if (!(scores[low]! < scores[high]!) || gap <= 0) continue;
        pull(low, gap, 1);
        pull(high, 0, -1);
      }
  }
  return { loss: total, gradients: { logp: spread(slopes, sums, input) } };
}

export const rrhf = objective({
  name: "rrhf",
  aliases: ["ranking_hinge"],
  summary:
    "The likelihoods of a group's answers should rank as their rewards do, and the best answer should itself be likely.",
  formula:
    "ℓ = Σ_{r_i < r_j} max(0, p_i − p_j + margin) − sft · p_best, p = Σ log π / length; the mean over groups",
  sources: [
    "RRHF: Rank Responses to Align Language Models with Human Feedback without tears",
    "Leveraging Reinforcement Learning and Large Language Models for Code Optimization",
  ],
  params,
  create: (options): Objective => ({
    channels: ["logp"],
    unit: "group",
    loss: (input) => loss(input, options),
  }),
});
