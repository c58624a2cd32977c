import type { MetricPoints } from "./record.ts";

/** Those that are numbers. */
export const finite = ({ values }: MetricPoints): number[] =>
  [...values].filter((value) => Number.isFinite(value));

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2;
}

/** The last point whose value satisfies a condition. */
export function lastWhere(
  { steps, values }: MetricPoints,
  holds: (value: number) => boolean,
): { readonly step: number; readonly value: number } | undefined {
  for (let index = values.length - 1; index >= 0; index--)
    if (holds(values[index]!)) return { step: steps[index]!, value: values[index]! };
  return undefined;
}

const bars = "▁▂▃▄▅▆▇█";

/** A course as a line of blocks, `width` at most: each block the mean of its steps; a gap where none is a number. */
export function sparkline(values: ArrayLike<number>, width = 40): string {
  const count = Math.min(width, values.length);
  const means = Array.from({ length: count }, (_, block) => {
    const to = Math.floor(((block + 1) * values.length) / count);
    let [sum, known] = [0, 0];
    for (let index = Math.floor((block * values.length) / count); index < to; index++) {
      if (!Number.isFinite(values[index])) continue;
      sum += values[index]!;
      known += 1;
    }
    return sum / known;
  });
  const known = means.filter((value) => !Number.isNaN(value));
  const [low, high] = [Math.min(...known), Math.max(...known)];
  const bar = (value: number): string =>
    bars[high === low ? 3 : Math.round(((value - low) / (high - low)) * (bars.length - 1))] ?? "";
  return means.map((value) => (Number.isNaN(value) ? " " : bar(value))).join("");
}
