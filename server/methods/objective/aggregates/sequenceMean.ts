import { z } from "zod";
import { aggregate } from "../../../core/declaration.ts";
import { emptyRows, sequenceMeans } from "./normalisers.ts";

export const sequenceMean = aggregate({
  name: "sequence_mean",
  aliases: ["seq-mean-token-mean"],
  summary: "Every rollout counts equally: the mean over rollouts of their token means.",
  formula: "L = mean_i (Σ_t w ℓ / number of i's trained tokens)",
  sources: ["DeepSeekMath: Pushing the Limits of Mathematical Reasoning in Open Language Models"],
  params: z.object({ empty_rows: emptyRows }),
  create:
    ({ empty_rows }) =>
    (counts, batch) =>
      sequenceMeans(counts, batch, empty_rows),
});
