/** Arithmetic that several methods of the curriculum share. */
import { mean } from "../../../shared/lib/mean.ts";

/** The largest number, NaN ignored; −∞: there is none. */
export const largest = (values: ArrayLike<number>): number => {
  let top = Number.NEGATIVE_INFINITY;
  for (let i = 0; i < values.length; i++) if (values[i]! > top) top = values[i]!;
  return top;
};

/** The smallest number, NaN ignored; +∞: there is none. */
export const least = (values: ArrayLike<number>): number => {
  let bottom = Number.POSITIVE_INFINITY;
  for (let i = 0; i < values.length; i++) if (values[i]! < bottom) bottom = values[i]!;
  return bottom;
};

/** √(Σ (x − x̄)² / (n − less)); 0 where n ≤ less. */
export const deviation = (values: ArrayLike<number>, less: 0 | 1): number => {
  const centre = mean(values);
  let sum = 0;
  for (let i = 0; i < values.length; i++) sum += (values[i]! - centre) ** 2;
  return values.length <= less ? 0 : Math.sqrt(sum / (values.length - less));
};

export const logistic = (x: number): number => 1 / (1 + Math.exp(-x));
