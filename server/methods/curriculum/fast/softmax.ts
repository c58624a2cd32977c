/** Weights exp(value/temperature), whose ratios may exceed what a double can hold. */

export interface Softmax {
  /** By class; −∞: drawn when nothing else is left. */
  readonly values: Float64Array;
  /** At least 0; 0: only the largest have a weight. */
  readonly temperature: number;
}

/** exp((q − top)/τ), defined for infinite values and for τ = 0 too. */
export const relative = (q: number, top: number, tau: number): number =>
  q === top ? 1 : Math.exp((q - top) / tau);

/** Weights relative to the largest value left, which gets 1; 0 where a class has no arm left. */
export function softmaxWeights(
  { values, temperature }: Softmax,
  left: ArrayLike<number>,
): Float64Array<ArrayBuffer> {
  let top = Number.NEGATIVE_INFINITY;
  for (let of = 0; of < values.length; of++) if (left[of]! > 0 && values[of]! > top) top = values[of]!;
  const weights = new Float64Array(values.length);
  for (let of = 0; of < values.length; of++)
    if (left[of]! > 0) weights[of] = relative(values[of]!, top, temperature);
  return weights;
}
