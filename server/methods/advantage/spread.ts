/** Mean and standard deviation over chosen rows of a column. */

export function mean(values: Float64Array, rows: ArrayLike<number>): number {
  let sum = 0;
  for (let i = 0; i < rows.length; i++) sum += values[rows[i]!]!;
  return sum / rows.length;
}

/**
 * Divisor n − 1, or n for `population`; 0 for fewer than two rows. Exactly 0 when all values are equal, which the
 * rounding of the mean would otherwise hide.
 */
export function deviation(values: Float64Array, rows: ArrayLike<number>, population: boolean): number {
  if (rows.length < 2) return 0;
  const middle = mean(values, rows);
  const first = values[rows[0]!]!;
  let equal = true;
  let squares = 0;
  for (let i = 0; i < rows.length; i++) {
    const value = values[rows[i]!]!;
    if (value !== first) equal = false;
    squares += (value - middle) ** 2;
  }
  return equal ? 0 : Math.sqrt(squares / (population ? rows.length : rows.length - 1));
}

/** Centred value over spread + ε; a spread of zero gives 0, whatever ε is. */
export const scaled = (centred: number, spread: number, epsilon: number): number =>
  spread === 0 ? 0 : centred / (spread + epsilon);
