import type { MetricPoints } from "../record.ts";

export interface Constant {
  readonly value: number;
  /** First step from which on the value is the same. */
  readonly since: number;
  /** Recorded steps since then. */
  readonly count: number;
}

/** How long a series has stood still; undefined where its last value is no number. */
export function constantSince({ steps, values }: MetricPoints): Constant | undefined {
  const value = values.at(-1);
  if (value === undefined || Number.isNaN(value)) return undefined;
  let first = values.length - 1;
  while (first > 0 && values[first - 1] === value) first--;
  return { value, since: steps[first] ?? 0, count: values.length - first };
}
