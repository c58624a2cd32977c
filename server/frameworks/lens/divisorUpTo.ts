/** The largest divisor up to a bound. */
export const divisorUpTo = (whole: number, most: number): number => {
  for (let part = Math.min(most, whole); part > 1; part--) if (whole % part === 0) return part;
  return 1;
};
