import { z } from "zod";
import { aggregate } from "../config/declaration.ts";
import type { Batch } from "../seams.ts";

function factors(weights: Float64Array, { rows, offsets }: Batch, empty: "skip" | "count"): Float64Array {
  const counts = new Int32Array(rows);
  for (let row = 0; row < rows; row++)
    for (let i = offsets[row]!; i < offsets[row + 1]!; i++) if (weights[i] !== 0) counts[row]! += 1;
  const counted = empty === "count" ? rows : counts.reduce((total, count) => total + (count > 0 ? 1 : 0), 0);
  const result = new Float64Array(weights.length);
  for (let row = 0; row < rows; row++) {
    for (let i = offsets[row]!; i < offsets[row + 1]!; i++)
      if (weights[i] !== 0) result[i] = weights[i]! / (counts[row]! * counted);
  }
  return result;
}

export const sequenceMean = aggregate({
  name: "sequence_mean",
  aliases: ["seq-mean-token-mean"],
  summary: "Every rollout counts alike: the mean over rollouts of their token means.",
  formula: "L = mean_i (Σ_t w ℓ / number of i's trained tokens)",
  sources: ["DeepSeekMath: Pushing the Limits of Mathematical Reasoning in Open Language Models"],
  params: z.object({
    empty_rows: z
      .enum(["skip", "count"])
      .default("skip")
      .describe("Whether rollouts without a trained token count in the mean; TRL counts them."),
  }),
  create:
    ({ empty_rows }) =>
    (weights, batch) =>
      factors(weights, batch, empty_rows),
});
