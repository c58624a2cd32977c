/** What paired samples say. */
import type { Random } from "../../lib/random.ts";
import { mean } from "../../../shared/lib/mean.ts";

/** Standard error of a mean; NaN of fewer than two. */
export const standardError = (values: readonly number[]): number => {
  const centre = mean(values);
  const squares = values.reduce((sum, value) => sum + (value - centre) ** 2, 0);
  return Math.sqrt(squares / (values.length - 1) / values.length);
};

/**
 * Two-sided p of the hypothesis that differences are as often of one sign as of the other, whatever their sizes: signs
 * are flipped at random, and p is the share of flips (the given signs among them) with a mean as far from 0.
 */
export function signFlipTest(differences: readonly number[], random: Random, flips = 10_000): number {
  const observed = Math.abs(mean(differences));
  let asFar = 1;
  for (let flip = 0; flip < flips; flip++) {
    let sum = 0;
    for (const difference of differences) sum += random.next() < 0.5 ? difference : -difference;
    // Rounding must not make equal means differ.
    if (Math.abs(sum / differences.length) >= observed - 1e-12) asFar += 1;
  }
  return asFar / (flips + 1);
}
