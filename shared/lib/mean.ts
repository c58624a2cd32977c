/** The arithmetic mean; null of none. */
export const meanOrNull = (values: ArrayLike<number>): number | null =>
  values.length === 0 ? null : mean(values);

/** The arithmetic mean; NaN of none. */
export function mean(values: ArrayLike<number>): number {
  let sum = 0;
  for (let i = 0; i < values.length; i++) sum += values[i]!;
  return sum / values.length;
}
