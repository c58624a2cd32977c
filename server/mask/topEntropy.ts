import { z } from "zod";
import { UserError } from "../../shared/errors.ts";
import { mask } from "../config/declaration.ts";
import { origin, type LossMask } from "../seams.ts";

/** numpy's and torch's quantile: linear between the two nearest order statistics. `sorted` ascends. */
export function quantile(sorted: Float64Array, share: number): number {
  const at = share * (sorted.length - 1);
  const below = Math.floor(at);
  const [low, high] = [sorted[below]!, sorted[Math.min(below + 1, sorted.length - 1)]!];
  return low + (high - low) * (at - below);
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
    throw new UserError("mask top_entropy needs the entropy of every token, and there is none", {
      code: "mask-entropy",
      action: "Record `entropy` with the rollouts, or remove the mask.",
    });
  const concerned = (i: number): boolean =>
    weights[i] !== 0 && (over === "all" || batch.origin[i] === origin[over]) && !Number.isNaN(entropy[i]!);
  const values = entropy.filter((_, i) => concerned(i)).sort();
  const kept = new Uint8Array(weights.length).fill(1);
  if (values.length === 0) return kept;
  const threshold = quantile(values, 1 - share);
  for (let i = 0; i < kept.length; i++) if (concerned(i) && entropy[i]! < threshold) kept[i] = 0;
  return kept;
}

export const topEntropy = mask({
  name: "top_entropy",
  aliases: ["top_entropy_quantile"],
  summary:
    "Of the tokens of an optimiser step only the share with the highest entropy moves the policy (the forking tokens); KL terms keep all. Tokens as high as the quantile stay.",
  formula: "mask_t = [H_t ≥ quantile(H, 1 − share)]",
  sources: [
    "Beyond the 80/20 Rule: High-Entropy Minority Tokens Drive Effective Reinforcement Learning for LLM Reasoning",
    "TRL (top_entropy_quantile)",
    "Blending Supervised and Reinforcement Fine-Tuning with Prefix Sampling",
  ],
  params: z.object({
    share: z.number().gt(0).max(1).default(0.2).describe("Share of tokens that stays; 0.2 in the source."),
    over: z
      .enum(["all", "given", "written"])
      .default("all")
      .describe("Which tokens are ranked and may go; `given`: those of a prefix or demonstration only."),
    entropy: z
      .enum(["now", "generation"])
      .default("now")
      .describe("Under the weights as they are in the update, or as recorded when the token was written."),
    normaliser: z
      .enum(["all", "kept"])
      .default("all")
      .describe("Whether the loss is divided by all tokens (as the sources do) or by those that stay."),
  }),
  create: ({ share, over, entropy, normaliser }): LossMask => ({
    channels: entropy === "now" ? ["entropy"] : [],
    counted: normaliser === "all",
    keep: (input) => keep(input, share, over, entropy),
  }),
});
