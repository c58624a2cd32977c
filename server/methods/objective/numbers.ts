/** Functions that losses share, safe for every finite number. */

/** log(1 + e^x). */
export const softplus = (x: number): number =>
  x > 0 ? x + Math.log1p(Math.exp(-x)) : Math.log1p(Math.exp(x));

export const logSigmoid = (x: number): number => -softplus(-x);

export const sigmoid = (x: number): number => {
  const e = Math.exp(-Math.abs(x));
  return x >= 0 ? 1 / (1 + e) : e / (1 + e);
};

/** log(1 − e^x) for x < 0. */
export const log1mexp = (x: number): number =>
  x > -Math.LN2 ? Math.log(-Math.expm1(x)) : Math.log1p(-Math.exp(x));

export const clamped = (x: number, low: number, high: number): number => Math.min(Math.max(x, low), high);

// Where it is a toss-up which of two numbers is greater, the processor guesses in vain which way a jump goes. These are
// sums instead.

/** max(x, floor). */
export const atLeast = (x: number, floor: number): number => floor + 0.5 * (x - floor + Math.abs(x - floor));

/** How far x lies beyond [−reach, reach]: exactly 0 within. */
export const excess = (x: number, reach: number): number =>
  0.5 * (x - reach + Math.abs(x - reach)) + 0.5 * (x + reach - Math.abs(x + reach));

/** Replaces logs of weights by weights that sum to 1. Empty: nothing happens. */
export function softmaxInPlace(logs: Float64Array): void {
  const top = logs.reduce((a, b) => Math.max(a, b), Number.NEGATIVE_INFINITY);
  let sum = 0;
  for (let i = 0; i < logs.length; i++) sum += logs[i] = Math.exp(logs[i]! - top);
  for (let i = 0; i < logs.length; i++) logs[i]! /= sum;
}

/** log Σ exp. */
export function logSumExp(logs: Float64Array): number {
  const top = logs.reduce((a, b) => Math.max(a, b), Number.NEGATIVE_INFINITY);
  return top + Math.log(logs.reduce((sum, log) => sum + Math.exp(log - top), 0));
}
