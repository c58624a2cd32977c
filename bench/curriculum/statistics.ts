/** Intervals of paired effects, and what they say of a claim. */
import { standardError } from "../../server/analysis/simulate/statistics.ts";
import { mean } from "../../shared/lib/mean.ts";
import type { Bar } from "./claim.ts";

/** ln Γ(x) for x > 0, by Stirling's series from x ≥ 10 on and Γ(x + 1) = x Γ(x) below; error under 1e-12. */
function logGamma(x: number): number {
  if (x < 10) return logGamma(x + 1) - Math.log(x);
  const series = 1 / (12 * x) - 1 / (360 * x ** 3) + 1 / (1260 * x ** 5) - 1 / (1680 * x ** 7);
  return (x - 0.5) * Math.log(x) - x + 0.5 * Math.log(2 * Math.PI) + series;
}

/**
 * P(−t < T < t) of Student's t. With t = √ν tan θ the density c (1 + t²/ν)^(−(ν + 1)/2) dt is c √ν cos^(ν − 1) θ dθ, which
 * Simpson's rule integrates.
 */
function within(t: number, freedom: number): number {
  const scale = Math.exp(logGamma((freedom + 1) / 2) - logGamma(freedom / 2)) / Math.sqrt(Math.PI);
  const [parts, end] = [400, Math.atan(t / Math.sqrt(freedom))];
  const h = end / parts;
  let sum = 1 + Math.cos(end) ** (freedom - 1);
  for (let i = 1; i < parts; i++) sum += (i % 2 === 1 ? 4 : 2) * Math.cos(i * h) ** (freedom - 1);
  return (2 * scale * sum * h) / 3;
}

/** The t that |T| exceeds with probability 1 − level, e.g. 2.776 for 0.95 and 4 degrees of freedom. */
export function studentT(level: number, freedom: number): number {
  let [low, high] = [0, 1e4];
  for (let i = 0; i < 60; i++) {
    const middle = (low + high) / 2;
    if (within(middle, freedom) < level) low = middle;
    else high = middle;
  }
  return (low + high) / 2;
}

export interface Interval {
  readonly mean: number;
  readonly low: number;
  readonly high: number;
  readonly seeds: number;
}

/**
 * The mean of paired effects with its t interval; undefined of fewer than two.
 * @param looks at how many times results were or will be looked at: the 5 % are divided among them (Bonferroni)
 */
export function interval(effects: readonly number[], looks = 1): Interval | undefined {
  const seeds = effects.length;
  if (seeds < 2) return undefined;
  const t = studentT(1 - 0.05 / looks, seeds - 1);
  const [centre, half] = [mean(effects), t * standardError(effects)];
  return { mean: centre, low: centre - half, high: centre + half, seeds };
}

export type Verdict = "shows" | "shows, but less" | "does not show" | "the opposite shows" | "undecided";

/** @param effects an interval in a scale whose 0 is no effect */
export function verdictOf({ low, high }: Interval, { sign, claimed = Infinity, margin }: Bar): Verdict {
  const [least, most] = sign > 0 ? [low, high] : [-high, -low];
  if (most < 0) return "the opposite shows";
  if (least <= 0) return most < margin ? "does not show" : "undecided";
  return most < claimed && claimed < Infinity ? "shows, but less" : "shows";
}
