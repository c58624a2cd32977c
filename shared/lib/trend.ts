/** Which way a run's numbers are going. */
import { mean } from "./mean.ts";
export type Trend = "up" | "down" | "level";
export const arrows: Readonly<Record<Trend, string>> = { up: "↑", down: "↓", level: "→" };

/** Smallest part of a run that a trend is read off. */
const leastSteps = 5;

/** Of a sample; 0 for a single value. */
function deviation(values: readonly number[]): number {
  const centre = mean(values);
  const squares = values.reduce((sum, value) => sum + (value - centre) ** 2, 0);
  return values.length < 2 ? 0 : Math.sqrt(squares / (values.length - 1));
}

/** At least one value. The last tenth (at least 5 values) against as many before; level where they differ by less than their standard error. */
export function trendOf(values: readonly number[]): Trend {
  const part = Math.max(leastSteps, Math.floor(values.length / 10));
  const [before, now] =
    values.length < 2 * part
      ? [values.slice(0, 1), values.slice(-1)]
      : [values.slice(-2 * part, -part), values.slice(-part)];
  const change = mean(now) - mean(before);
  const noise = Math.sqrt(
    (deviation(now) ** 2 + deviation(before) ** 2) / Math.max(1, Math.min(now.length, before.length)),
  );
  return Math.abs(change) <= noise || change === 0 ? "level" : change > 0 ? "up" : "down";
}
