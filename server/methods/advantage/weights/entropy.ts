import { z } from "zod";
import { tokenWeight, param } from "../../../core/declaration.ts";
import type { Batch } from "../../../core/rollouts.ts";
import { recordedColumn } from "../columns.ts";

/** Rescales the trained tokens of [start, end) to mean 1, where their mean is not 0. */
function toMeanOne(weights: Float64Array, mask: Uint8Array, start: number, end: number): void {
  let sum = 0;
  let count = 0;
  for (let t = start; t < end; t++) {
    if (mask[t] !== 1) continue;
    sum += weights[t]!;
    count += 1;
  }
  for (let t = start; t < end; t++) weights[t] = sum === 0 ? 1 : (weights[t]! * count) / sum;
}

function rescaled(weights: Float64Array, { mask, rows, offsets }: Batch, over: "response" | "batch"): void {
  if (over === "batch") toMeanOne(weights, mask, 0, weights.length);
  else for (let row = 0; row < rows; row++) toMeanOne(weights, mask, offsets[row]!, offsets[row + 1]!);
}

export const entropyWeight = tokenWeight({
  name: "entropy",
  summary:
    "Weights tokens by the entropy of the distribution they were sampled from, rescaled to mean 1: uncertain tokens count more (proportional, or β above 0), or certain tokens do (β below 0). A token without an entropy counts 1.",
  formula: "w_t = H_t / mean H, or e^{βH_t} / mean e^{βH}",
  sources: [
    "GTPO and GRPO-S: Token and Sequence-Level Reward Shaping with Policy Entropy",
    "Unifying Group-Relative and Self-Distillation Policy Optimization via Sample Routing",
  ],
  params: z.object({
    beta: param(
      z.number().optional(),
      "β of the exponential form; without it the weight is proportional to the entropy.",
    ),
    over: param(
      z.enum(["response", "batch"]).default("response"),
      "Over which tokens the weights have mean 1.",
    ),
  }),
  create:
    ({ beta, over }) =>
    (batch) => {
      const entropy = recordedColumn(batch, "entropy", "advantage.token_weights: entropy");
      const weights = entropy.map((h) =>
        Number.isNaN(h) ? 1 : beta === undefined ? h : Math.exp(Math.min(700, beta * h)),
      );
      rescaled(weights, batch, over);
      return weights;
    },
});
