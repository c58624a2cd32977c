/** Draws from distributions, the normal distribution's density and cumulative function, and log Γ. */
import type { Random } from "./random.ts";

/** Standard normal (Box and Muller, 1958). */
export const normal = (random: Random): number =>
  Math.sqrt(-2 * Math.log(1 - random.next())) * Math.cos(2 * Math.PI * random.next());

/** Gamma(shape, 1) for any positive shape (Marsaglia and Tsang, 2000; below 1 by a power of a uniform). */
export function gamma(shape: number, random: Random): number {
  if (shape < 1) return gamma(shape + 1, random) * (1 - random.next()) ** (1 / shape);
  const d = shape - 1 / 3;
  const c = 1 / Math.sqrt(9 * d);
  for (;;) {
    const x = normal(random);
    const v = (1 + c * x) ** 3;
    if (v > 0 && Math.log(1 - random.next()) < 0.5 * x * x + d - d * v + d * Math.log(v)) return d * v;
  }
}

/** Beta(a, b): X/(X + Y) with X ~ Gamma(a), Y ~ Gamma(b). */
export function beta(a: number, b: number, random: Random): number {
  const x = gamma(a, random);
  const sum = x + gamma(b, random);
  // Shapes near 0 can underflow both; the mean is then all that is left to say.
  return sum > 0 ? x / sum : a / (a + b);
}

/** φ(z). */
export const normalDensity = (z: number): number => Math.exp(-0.5 * z * z) / Math.sqrt(2 * Math.PI);

/** Φ(z), to about 1e−7 (Abramowitz and Stegun 7.1.26). */
export function normalCumulative(z: number): number {
  const x = Math.abs(z) / Math.SQRT2;
  const t = 1 / (1 + 0.3275911 * x);
  const series =
    t * (0.254829592 + t * (-0.284496736 + t * (1.421413741 + t * (-1.453152027 + t * 1.061405429))));
  const error = 1 - series * Math.exp(-x * x);
  return z >= 0 ? 0.5 * (1 + error) : 0.5 * (1 - error);
}

/** log Γ (Lanczos, g = 7). */
export function logGamma(x: number): number {
  const c = [
    0.99999999999980993, 676.5203681218851, -1259.1392167224028, 771.32342877765313, -176.61502916214059,
    12.507343278686905, -0.13857109526572012, 9.9843695780195716e-6, 1.5056327351493116e-7,
  ];
  const sum = c.slice(1).reduce((total, term, i) => total + term / (x + i), c[0]!);
  const t = x + 6.5;
  return 0.5 * Math.log(2 * Math.PI) + (x - 0.5) * Math.log(t) - t + Math.log(sum);
}
