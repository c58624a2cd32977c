/** Which tokens train, and how much each counts. */
import type { Batch, Clock, Stats, TokenWeight } from "../seams.ts";
import type { Advantages } from "./advantages.ts";

/**
 * A weight of exactly 0 would take a token out of the normalisers' counts, as the mask does. Token weighting does not:
 * its zeros are this small instead.
 */
const nothing = 1e-30;

/** Mask × the product of the methods' factors; 0 where no advantage exists. `batch` is masked. */
export function tokenWeights(
  methods: readonly TokenWeight[],
  batch: Batch,
  { tokens, exists }: Pick<Advantages, "tokens" | "exists">,
  stats: Stats,
  clock: Clock,
): Float64Array {
  const weights = new Float64Array(batch.mask.length);
  for (let i = 0; i < weights.length; i++) if (batch.mask[i] === 1 && exists[i] === 1) weights[i] = 1;
  for (const method of methods) {
    const factors = method(batch, stats, tokens, clock);
    for (let i = 0; i < weights.length; i++) {
      if (weights[i] === 0) continue;
      const weight = weights[i]! * factors[i]!;
      weights[i] = weight === 0 ? nothing : weight;
    }
  }
  return weights;
}
