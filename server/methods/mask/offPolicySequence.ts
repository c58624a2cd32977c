import { z } from "zod";
import { mask, param } from "../../core/declaration.ts";
import type { LossMask } from "../../core/loss.ts";
import { UserError } from "../../../shared/lib/errors.ts";

function keep(
  { batch, now, old, advantages, weights }: Parameters<LossMask["keep"]>[0],
  threshold: number,
  against: "sampled" | "behaviour",
): Uint8Array {
  const sampled = against === "sampled" ? batch.columns.logp_sampled : undefined;
  const [logp, behaviour] = [now.logp, sampled ?? old.logp];
  if (logp === undefined || behaviour === undefined)
    throw new UserError(
      "mask off_policy_sequence needs the log-probs of generation, and the rollouts have none",
      {
        code: "mask-logp",
        action: "Record `logp_sampled` or `logp_old` with the rollouts, or remove the mask.",
      },
    );
  const kept = new Uint8Array(weights.length).fill(1);
  for (let row = 0; row < batch.rows; row++) {
    let [sum, count] = [0, 0];
    for (let i = batch.offsets[row]!; i < batch.offsets[row + 1]!; i++) {
      if (weights[i] === 0) continue;
      const gap = behaviour[i]! - logp[i]!;
      // A token without a score is no evidence.
      if (!Number.isNaN(gap)) sum += gap;
      count += 1;
    }
    if (count === 0 || sum / count <= threshold) continue;
    for (let i = batch.offsets[row]!; i < batch.offsets[row + 1]!; i++) if (advantages[i]! < 0) kept[i] = 0;
  }
  return kept;
}

export const offPolicySequence = mask({
  name: "off_policy_sequence",
  aliases: ["off_policy_mask"],
  summary:
    "Leaves out tokens with a negative advantage in rollouts that the policy has moved away from: those whose mean log-ratio of the generating policy to the current one is above a threshold. KL terms keep these tokens.",
  formula: "mask_t = [A_t ≥ 0 or mean_t(log π_sampled − log π) ≤ threshold]",
  sources: [
    "DeepSeek-V3.2: Pushing the Frontier of Open Large Language Models",
    "TRL (off_policy_mask_threshold)",
  ],
  params: z.object({
    threshold: param(z.number().positive().default(0.5), "δ, in nats per token."),
    against: param(
      z.enum(["sampled", "behaviour"]).default("sampled"),
      "What the drift is measured from: the distribution that the sampler drew from, where it was recorded (TRL with vLLM), or the policy that generated.",
    ),
    normaliser: param(
      z.enum(["all", "kept"]).default("all"),
      "Whether the loss is divided by all tokens (as in TRL) or by those that still train.",
    ),
  }),
  create: ({ threshold, against, normaliser }): LossMask => ({
    channels: ["logp"],
    counted: normaliser === "all",
    keep: (input) => keep(input, threshold, against),
  }),
});
