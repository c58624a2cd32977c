/** How likely a model finds answers: exp(−mean log-prob of their tokens), an answer each. */
import { quantile } from "../../../shared/lib/quantile.ts";

export interface Perplexity {
  readonly answers: number;
  readonly p10: number;
  readonly median: number;
  readonly p90: number;
}

export interface Perplexities {
  /** Of the own model's answers, and of the other's, each under the model that wrote them. */
  readonly own: Perplexity | null;
  readonly other: Perplexity | null;
  /**
   * Of the own model's answers under the other: as low as the other's own, they are what it might have written (Limit-of-RLVR).
   * null: the two have other tokens.
   */
  readonly own_under_other: Perplexity | null;
}

/** @param logps mean log-probs; those that are not finite are of no token and are left out */
export const perplexities = (
  own: readonly number[],
  other: readonly number[],
  under: readonly number[] | undefined,
): Perplexities => ({
  own: perplexity(own),
  other: perplexity(other),
  own_under_other: under === undefined ? null : perplexity(under),
});

function perplexity(logps: readonly number[]): Perplexity | null {
  const sorted = Float64Array.from(logps.filter(Number.isFinite), (logp) => Math.exp(-logp)).sort();
  if (sorted.length === 0) return null;
  return {
    answers: sorted.length,
    p10: quantile(sorted, 0.1),
    median: quantile(sorted, 0.5),
    p90: quantile(sorted, 0.9),
  };
}
