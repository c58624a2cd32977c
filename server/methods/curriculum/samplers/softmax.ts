/** Weights exp(value/temperature), which may lie further apart than numbers can. */

export interface Softmax {
  /** By class; −∞ comes when nothing else is left. */
  readonly values: Float64Array;
  /** At least 0; 0: the largest alone have a weight. */
  readonly temperature: number;
}

/** exp((q − top)/τ), also of values without an end and with τ = 0. */
export const relative = (q: number, top: number, tau: number): number =>
  q === top ? 1 : Math.exp((q - top) / tau);

/** Relative to the largest of what is left, which has 1; 0 where nothing is. */
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
