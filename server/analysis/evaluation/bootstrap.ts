/** How sure a held-out measure is: intervals by drawing the tasks again. */
import { quantile } from "../../../shared/lib/quantile.ts";
import type { Random } from "../../lib/random.ts";

export interface Interval {
  readonly low: number;
  readonly high: number;
}

/** Draws by default: the ends of a 95 % interval then move by well under a tenth of its width. */
const bootstrapDraws = 10_000;

/**
 * Percentile interval of a mean: the quantiles (1 ∓ level)/2 of the means of as many values drawn with replacement.
 * Source: Efron, "Bootstrap Methods: Another Look at the Jackknife".
 * @param values one per task, finite; for a paired comparison, the differences
 * @param level share of the draws inside, in (0, 1)
 * @returns undefined where there are no values
 */
export function bootstrapMean(
  values: readonly number[],
  random: Random,
  { draws = bootstrapDraws, level = 0.95 }: { readonly draws?: number; readonly level?: number } = {},
): Interval | undefined {
  if (values.length === 0) return undefined;
  const means = new Float64Array(draws);
  for (let draw = 0; draw < draws; draw++) {
    let sum = 0;
    for (let i = 0; i < values.length; i++) sum += values[random.integer(values.length)]!;
    means[draw] = sum / values.length;
  }
  means.sort();
  return { low: quantile(means, (1 - level) / 2), high: quantile(means, (1 + level) / 2) };
}
