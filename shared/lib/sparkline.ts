/** The course of a few numbers as one word of block characters: where a picture has no place. */

export const blocks = ["▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"] as const;

/** The last `width` values as block characters between the smallest and the largest of them; gaps where not finite. */
export function sparkline(values: readonly number[], width: number): string {
  const recent = values.slice(-width);
  const finite = recent.filter(Number.isFinite);
  const [low, high] = [Math.min(...finite), Math.max(...finite)];
  const level = (value: number): string =>
    !Number.isFinite(value)
      ? " "
      : high === low
        ? blocks[3]
        : blocks[Math.min(7, Math.floor(((value - low) / (high - low)) * 8))]!;
  return recent.map(level).join("");
}
