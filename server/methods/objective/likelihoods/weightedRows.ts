/** −Σ_t factor · w · log π: what every weighted likelihood is, whatever its weights; they are held constant. */
import type { Weighed } from "../../../core/policy.ts";
import type { ObjectiveInput } from "../../../core/loss.ts";
import { column } from "../column.ts";
import { checkLoss } from "../finite.ts";

/** @param weightOf the constant weight of a token of a row */
export function weightedLikelihoodOf(
  input: Pick<ObjectiveInput, "batch" | "now" | "weights" | "factors">,
  weightOf: (row: number, token: number) => number,
  metrics?: Readonly<Record<string, number>>,
): Weighed {
  const { batch, now, weights, factors } = input;
  const logp = column(now, "logp", "the objective");
  const gradient = new Float64Array(weights.length);
  let loss = 0;
  for (let row = 0; row < batch.rows; row++)
    for (let t = batch.offsets[row]!; t < batch.offsets[row + 1]!; t++) {
      if (weights[t] === 0) continue;
      const weight = factors[t]! * weightOf(row, t);
      if (weight === 0) continue;
      loss -= weight * logp[t]!;
      gradient[t] = -weight;
    }
  checkLoss(loss, input, { "the policy's log-prob": logp });
  return { loss, gradients: { logp: gradient }, ...(metrics && { metrics }) };
}
