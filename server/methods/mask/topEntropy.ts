import { z } from "zod";
import { UserError } from "../../../shared/lib/errors.ts";
import { mask, param } from "../../core/declaration.ts";
import { origin } from "../../core/rollouts.ts";
import type { LossMask } from "../../core/loss.ts";

/**
 * numpy's and torch's quantile: linear between the two nearest order statistics. Expected time is linear in the length.
 * @param values at least one; put in another order
 */
export function quantile(values: Float64Array, share: number): number {
  const at = share * (values.length - 1);
  const below = Math.floor(at);
  const low = orderStatistic(values, below);
  if (at === below) return low;
  // Everything after `below` is at least as large.
  let high = Number.POSITIVE_INFINITY;
  for (let i = below + 1; i < values.length; i++) if (values[i]! < high) high = values[i]!;
  return low + (high - low) * (at - below);
}

/** Hoare's selection: puts the k-th smallest at index k, none larger before it, none smaller after it. */
function orderStatistic(values: Float64Array, k: number): number {
  let [left, right] = [0, values.length - 1];
  while (left < right) {
    const pivot = values[(left + right) >> 1]!;
    let [i, j] = [left, right];
    while (i <= j) {
      while (values[i]! < pivot) i += 1;
      while (values[j]! > pivot) j -= 1;
      if (i > j) break;
      const kept = values[i]!;
      values[i] = values[j]!;
      values[j] = kept;
      i += 1;
      j -= 1;
    }
    if (k <= j) right = j;
    else if (k >= i) left = i;
    else break;
  }
  return values[k]!;
}

type Over = "all" | "given" | "written";

function keep(
  { batch, now, weights }: Parameters<LossMask["keep"]>[0],
  share: number,
  over: Over,
  when: "now" | "generation",
): Uint8Array {
  const entropy = when === "now" ? now.entropy : batch.columns.entropy;
  if (entropy === undefined)
    throw new UserError("mask top_entropy needs the entropy of every token, and the rollouts have none", {
      code: "mask-entropy",
      action: "Record `entropy` with the rollouts, or remove the mask.",
    });
  const wanted = over === "all" ? undefined : origin[over];
  const values = new Float64Array(weights.length);
  let count = 0;
  for (let i = 0; i < weights.length; i++)
    if (
      weights[i] !== 0 &&
      (wanted === undefined || batch.origin[i] === wanted) &&
      !Number.isNaN(entropy[i]!)
    )
      values[count++] = entropy[i]!;
  const kept = new Uint8Array(weights.length).fill(1);
  if (count === 0) return kept;
  const threshold = quantile(values.subarray(0, count), 1 - share);
  for (let i = 0; i < kept.length; i++)
    if (entropy[i]! < threshold && (wanted === undefined || batch.origin[i] === wanted)) kept[i] = 0;
  return kept;
}

export const topEntropy = mask({
  name: "top_entropy",
  aliases: ["top_entropy_quantile"],
  summary:
    "Only the tokens with the highest entropy in an optimiser step (the forking tokens) move the policy; KL terms keep all. Tokens equal to the quantile stay.",
  formula: "mask_t = [H_t ≥ quantile(H, 1 − share)]",
  sources: [
    "Beyond the 80/20 Rule: High-Entropy Minority Tokens Drive Effective Reinforcement Learning for LLM Reasoning",
    "TRL (top_entropy_quantile)",
    "Blending Supervised and Reinforcement Fine-Tuning with Prefix Sampling",
  ],
  params: z.object({
    share: param(z.number().gt(0).max(1).default(0.2), "Share of tokens that stays; 0.2 in the source."),
    over: param(
      z.enum(["all", "given", "written"]).default("all"),
      "Which tokens are ranked and may be dropped; `given`: only those of a prefix or demonstration.",
    ),
    entropy: param(
      z.enum(["now", "generation"]).default("now"),
      "The entropy under the current weights of the update, or as recorded when the token was generated.",
    ),
    normaliser: param(
      z.enum(["all", "kept"]).default("all"),
      "Whether the loss is divided by all tokens (as in the sources) or by those that stay.",
    ),
  }),
  create: ({ share, over, entropy, normaliser }): LossMask => ({
    channels: entropy === "now" ? ["entropy"] : [],
    counted: normaliser === "all",
    keep: (input) => keep(input, share, over, entropy),
  }),
});
