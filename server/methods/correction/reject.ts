import { rejectionParams, within } from "../../core/rows/rejection.ts";
import { z } from "zod";
import { correction } from "../../core/declaration.ts";
import { Rule } from "../../core/rows/touched.ts";
import { actsWhere, distributionParams, logRatios, modelsOf } from "./weights.ts";

export const reject = correction({
  name: "reject",
  aliases: ["rollout_rs"],
  summary:
    "Rejection sampling: tokens or whole responses whose divergence is out of bounds do not train, and the normaliser does not count them.",
  formula:
    "kept where D ≤ high, D = token's, or the response's Σ, mean or max of k2 or k3; for k1: log low ≤ D ≤ log high, k1 = log π_denominator / π_numerator",
  sources: ["verl 0.9.1"],
  params: z.object({ ...distributionParams, ...rejectionParams }),
  actsOn: actsWhere,
  create: (params) => ({
    models: modelsOf(params),
    correct: (input) => {
      const kept = within(params, logRatios(input, params), input);
      const rejected = new Rule("reject", kept.length);
      let trained = 0;
      for (let i = 0; i < kept.length; i++) {
        if (input.weights[i] === 0) continue;
        trained += 1;
        if (kept[i] === 0) rejected.act(i);
      }
      return {
        kept,
        metrics: trained === 0 ? {} : { "correction/rejected": rejected.count / trained },
        touched: rejected.touched,
      };
    },
  }),
});
