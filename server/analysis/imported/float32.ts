/** Digits of a decimal that decide every float32. */
const enough = 9;

/**
 * Trainers keep rewards in float32 and write them as float64: 0.1 becomes 0.10000000149011612. This is the shortest decimal
 * that float32 rounds to the same, which is what the reward gave wherever it gave a short one. Others stay as they are.
 */
export function shortest(value: number): number {
  if (Number.isInteger(value) || Math.fround(value) !== value) return value;
  for (let digits = 1; digits <= enough; digits++) {
    const short = Number(value.toPrecision(digits));
    if (Math.fround(short) === value) return short;
  }
  return value;
}
