/** Several columns over one axis of steps: pure. */
import type { Column } from "./series.ts";

/** A number; null: nothing is said of this step; NaN: nothing can be said, and a line breaks here. */
export type Drawn = number | null;

export interface Spread {
  readonly low: readonly Drawn[];
  readonly high: readonly Drawn[];
}
export interface Aligned {
  readonly steps: number[];
  /** First step that each place of the axis stands for; `steps` has the last. */
  readonly begins: number[];
  readonly values: Drawn[][];
  /** Extremes of the columns that are in buckets. */
  readonly spreads: readonly (Spread | undefined)[];
}

/** A line joins what it has; farther apart than this, in usual distances, data are missing. */
const longGap = 8;
const samples = 64;

/** Over the union of the columns' steps; columns in buckets meet in the buckets. */
export function align(columns: readonly Column[]): Aligned {
  const width = Math.max(1, ...columns.map((column) => column.width ?? 1));
  const places = new Map<number, { begin: number; step: number }>();
  const axis = new Map<number, number>();
  for (const column of columns)
    if (column.width !== undefined && column.width === width && width > 1)
      column.steps.forEach((step, i) => {
        const begin = column.begins?.[i] ?? step;
        const place = Math.floor(step / width);
        const known = places.get(place);
        places.set(place, {
          begin: Math.min(known?.begin ?? begin, begin),
          step: Math.max(known?.step ?? step, step),
        });
      });
    else for (const step of column.steps) axis.set(step, step);
  for (const { begin, step } of places.values()) axis.set(step, Math.min(begin, axis.get(step) ?? begin));
  const union = withGaps([...axis.keys()].sort((a, b) => a - b));
  const index = new Map(union.map((step, i) => [step, i]));
  const stepOf = (column: Column, step: number): number =>
    width > 1 && column.width === width ? (places.get(Math.floor(step / width))?.step ?? step) : step;
  const spread = (column: Column, of: readonly (number | null)[] | undefined): Drawn[] => {
    const values = new Array<Drawn>(union.length).fill(null);
    column.steps.forEach((step, i) => (values[index.get(stepOf(column, step))!] = of?.[i] ?? Number.NaN));
    return values;
  };
  return {
    steps: union,
    begins: union.map((step) => axis.get(step) ?? step),
    values: columns.map((column) => spread(column, column.values)),
    spreads: columns.map((column) =>
      (column.width ?? 1) > 1
        ? { low: spread(column, column.low), high: spread(column, column.high) }
        : undefined,
    ),
  };
}

/** Distance between neighbours that is usual: the median of a sample. */
function usual(steps: readonly number[]): number {
  const stride = Math.max(1, Math.floor(steps.length / samples));
  const distances: number[] = [];
  for (let i = 1; i < steps.length; i += stride) distances.push(steps[i]! - steps[i - 1]!);
  return distances.sort((a, b) => a - b)[distances.length >> 1] ?? 1;
}

/** With a place in each long gap, so that there is where to break a line. */
function withGaps(steps: readonly number[]): number[] {
  if (steps.length < 4) return [...steps];
  const most = longGap * usual(steps);
  return steps.flatMap((step, i) =>
    i > 0 && step - steps[i - 1]! > most ? [steps[i - 1]! + 1, step] : [step],
  );
}

/** A line's values with a break (NaN) in each long gap, and none elsewhere: other lines' steps do not break it. */
export function broken(steps: readonly number[], values: readonly Drawn[]): readonly Drawn[] {
  const known = values.flatMap((value, i) => (value === null ? [] : [i]));
  if (known.length === values.length || known.length < 4) return values;
  const most = longGap * usual(known.map((i) => steps[i]!));
  const result = [...values];
  known.forEach((at, i) => {
    const previous = known[i - 1];
    if (previous !== undefined && at - previous > 1 && steps[at]! - steps[previous]! > most)
      result[previous + 1] = Number.NaN;
  });
  return result;
}

/** Each column on top of those before it, where all of them are known. */
export function stack(values: readonly (readonly Drawn[])[]): Drawn[][] {
  const tops = values.map(() => [] as Drawn[]);
  for (let i = 0; i < (values[0]?.length ?? 0); i++) {
    let sum: Drawn = 0;
    for (const column of values) {
      const value: Drawn = column[i] ?? null;
      sum = sum === null || value === null ? null : sum + value;
    }
    let top = 0;
    tops.forEach((column, part) =>
      column.push(sum === null || Number.isNaN(sum) ? sum : (top += values[part]![i]!)),
    );
  }
  return tops;
}

/** Where some part is known, absent ones are 0. */
export const withZeros = (values: readonly (readonly Drawn[])[]): readonly (readonly Drawn[])[] =>
  values.map((column) =>
    column.map((value, i) => (value === null && values.some((other) => other[i] !== null) ? 0 : value)),
  );
