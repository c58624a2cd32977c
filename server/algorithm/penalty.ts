/** A KL penalty on the reward, per token. */
import { UserError } from "../../shared/errors.ts";
import type { Batch, Clock, KlTerm, Model, Stats } from "../seams.ts";

/** The log-probs that a KL penalty on the reward compares: behaviour against another model. */
function penaltyColumns(
  stats: Stats,
  { model }: KlTerm,
): { readonly own: Float64Array; readonly other: Float64Array } {
  const [own, other] = [stats.logp, model === "behaviour" ? stats.logp : stats[`logp:${model}`]];
  if (own === undefined || other === undefined) {
    throw new UserError(
      `the KL penalty on the reward needs the log-probs of ${own === undefined ? "the policy that generated" : `model "${model}"`}`,
      {
        code: "kl-columns",
        action:
          own === undefined
            ? "Record logp_old with the rollouts."
            : "Record logp_ref with the rollouts, or set `kl: []`.",
      },
    );
  }
  return { own, other };
}

/** Σ over the terms of β · KL of each token that trains, 0 elsewhere; undefined where no term counts now. */
export function penaltyOf(
  penalties: readonly KlTerm[],
  batch: Batch,
  stats: Stats,
  clock: Clock,
  success?: Uint8Array,
): Float64Array | undefined {
  let sum: Float64Array | undefined;
  for (const penalty of penalties) {
    const coefficient = penalty.coefficient(clock);
    if (coefficient === 0) continue;
    const { own, other } = penaltyColumns(stats, penalty);
    const factors = penalty.acts?.({ batch, old: stats, weights: batch.mask, ...(success && { success }) });
    sum ??= new Float64Array(batch.mask.length);
    for (let t = 0; t < sum.length; t++) {
      if (batch.mask[t] !== 1 || factors?.[t] === 0) continue;
      const value = penalty.estimator.value(own[t]!, other[t]!);
      if (!Number.isFinite(value)) throw infinite(batch, t, penalty.model, value);
      sum[t]! += coefficient * (factors?.[t] ?? 1) * value;
    }
  }
  return sum;
}

function infinite({ offsets, records }: Batch, token: number, model: Model, value: number): UserError {
  const row = offsets.findLastIndex((offset) => offset <= token);
  const { group, index } = records[row]!;
  return new UserError(
    `the KL penalty on the reward is ${value} at token ${token - offsets[row]!} of rollout ${index} of group ${group}: the policy's or ${model}'s log-prob there is not a number or not finite`,
    {
      code: "kl-infinite",
      action: "Record finite log-probs for every token that trains, or choose an estimator with a clamp.",
    },
  );
}
