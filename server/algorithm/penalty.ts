/** A KL penalty on the reward, per token. */
import { UserError } from "../../shared/errors.ts";
import type { Batch, Clock, KlTerm, Stats } from "../seams.ts";

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
      sum[t]! += coefficient * (factors?.[t] ?? 1) * penalty.estimator.value(own[t]!, other[t]!);
    }
  }
  return sum;
}
