/** Means of `width` stretches of the values, or the values where they are fewer. */
export function condensed(values: readonly number[], width: number): number[] {
  if (values.length <= width) return [...values];
  return Array.from({ length: width }, (_, i) => {
    const part = values.slice(
      Math.floor((i * values.length) / width),
      Math.floor(((i + 1) * values.length) / width),
    );
    return part.reduce((sum, value) => sum + value, 0) / part.length;
  });
}
