/** Whether a confidence means what it says. Pure. */
import { mean } from "../../../shared/lib/mean.ts";
import { accuracyOf, rankedPairs } from "./rankedPairs.ts";

/** A claim: how sure somebody was, in [0, 1], and how right they were: 0, 1, or between them where votes are tied. */
export interface Claim {
  readonly confidence: number;
  readonly right: number;
}

export interface Calibration {
  readonly claims: number;
  /** Expected calibration error: Σ_b n_b/n · |accuracy_b − confidence_b|. */
  readonly ece: number;
  /** Mean of (confidence − right)². */
  readonly brier: number;
  /** The chance that a right claim was surer than a wrong one, ties half; null: all are right, or all wrong. */
  readonly auroc: number | null;
  /** The reliability diagram; bins without a claim are left out. */
  readonly bins: readonly Bin[];
}

export interface Bin {
  readonly low: number;
  readonly high: number;
  readonly claims: number;
  readonly confidence: number;
  readonly accuracy: number;
}

/**
 * Bins are [0, 1/n), [1/n, 2/n), … with 1 in the last.
 * Sources: Guo et al., "On Calibration of Modern Neural Networks"; the released code of RLCR, which has 10.
 */
export function calibration(claims: readonly Claim[], bins = 10): Calibration | undefined {
  if (claims.length === 0) return undefined;
  const binOf = ({ confidence }: Claim): number => Math.min(bins - 1, Math.floor(confidence * bins));
  const found = Array.from({ length: bins }, (_, i): Bin | undefined => {
    const own = claims.filter((claim) => binOf(claim) === i);
    if (own.length === 0) return undefined;
    return {
      low: i / bins,
      high: (i + 1) / bins,
      claims: own.length,
      confidence: mean(own.map(({ confidence }) => confidence)),
      accuracy: mean(own.map(({ right }) => right)),
    };
  }).filter((bin) => bin !== undefined);
  return {
    claims: claims.length,
    ece: found.reduce(
      (sum, bin) => sum + (bin.claims / claims.length) * Math.abs(bin.accuracy - bin.confidence),
      0,
    ),
    brier: mean(claims.map(({ confidence, right }) => (confidence - right) ** 2)),
    auroc: auroc(claims),
    bins: found,
  };
}

/** By ranks (Mann–Whitney): pairs of a right and a wrong claim, each counted by how right one is more than the other. */
function auroc(claims: readonly Claim[]): number | null {
  const sorted = claims.toSorted((a, b) => a.confidence - b.confidence);
  return accuracyOf(
    rankedPairs(
      sorted.map(({ confidence }) => confidence),
      sorted.map(({ right }) => right),
      sorted.map(({ right }) => 1 - right),
    ),
  );
}
