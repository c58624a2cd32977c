import { z } from "zod";
import { aggregate } from "../../../core/declaration.ts";
import { emptyRows, sequenceSums } from "./normalisers.ts";

export const sequenceSum = aggregate({
  name: "sequence_sum",
  aliases: ["seq-mean-token-sum", "luspo"],
  summary: "Token sums, averaged over rollouts: a response counts in proportion to its length.",
  formula: "L = mean_i Σ_t w ℓ",
  sources: ["Length-Unbiased Sequence Policy Optimization", "verl 0.9.1"],
  params: z.object({ empty_rows: emptyRows }),
  create:
    ({ empty_rows }) =>
    (counts, batch) =>
      sequenceSums(counts, batch, empty_rows),
});
