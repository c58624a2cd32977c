/** How sure a share is, and the difference of two. */

export interface ShareInterval {
  readonly low: number;
  readonly high: number;
}

/**
 * Quantile of the standard normal distribution, |error| < 5e-4.
 * Source: Abramowitz and Stegun, Handbook of Mathematical Functions, 26.2.23.
 * @param tail probability above, in (0, 0.5]
 */
export function normalQuantile(tail: number): number {
  const t = Math.sqrt(-2 * Math.log(tail));
  const above = 2.515517 + t * (0.802853 + t * 0.010328);
  return t - above / (1 + t * (1.432788 + t * (0.189269 + t * 0.001308)));
}

/** Wilson's interval of a share of `n`, at `z` standard errors: it holds for shares near 0 and 1, too. */
export function wilson(share: number, n: number, z: number): ShareInterval {
  const centre = share + (z * z) / (2 * n);
  const half = z * Math.sqrt((share * (1 - share)) / n + (z * z) / (4 * n * n));
  const scale = 1 + (z * z) / n;
  return { low: Math.max(0, (centre - half) / scale), high: Math.min(1, (centre + half) / scale) };
}

/** `after − before` of two shares of `n` each, by Newcombe's method out of Wilson's intervals of both. */
export function shareDifference(before: number, after: number, n: number, z: number): ShareInterval {
  const [first, second] = [wilson(before, n, z), wilson(after, n, z)];
  const change = after - before;
  return {
    low: change - Math.hypot(after - second.low, first.high - before),
    high: change + Math.hypot(second.high - after, before - first.low),
  };
}
