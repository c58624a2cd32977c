/** Whole numbers that fit. */

export const gcd = (a: number, b: number): number => (b === 0 ? a : gcd(b, a % b));
export const lcm = (a: number, b: number): number => (a / gcd(a, b)) * b;

/** Multiples of `step` around a value, the nearest first; of two as near, the larger. */
export function multiplesNear(value: number, step: number, least = step): number[] {
  const below = Math.floor(value / step) * step;
  return [below, below + step]
    .filter((candidate) => candidate >= least)
    .sort((a, b) => Math.abs(a - value) - Math.abs(b - value) || b - a);
}

/** Divisors of `whole` around a value, the nearest first; of two as near, the larger. */
export function divisorsNear(value: number, whole: number): number[] {
  const all = Array.from({ length: Math.min(whole, 1 << 16) }, (_, i) => i + 1).filter(
    (d) => whole % d === 0,
  );
  const below = all.findLast((d) => d <= value);
  const above = all.find((d) => d > value);
  return [below, above]
    .filter((candidate) => candidate !== undefined)
    .sort((a, b) => Math.abs(a - value) - Math.abs(b - value) || b - a);
}
