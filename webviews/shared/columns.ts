/** Several columns over one axis of steps: pure. */
import type { Column } from "./column.ts";

/** A number; null: nothing is said of this step; NaN: nothing can be said, and a line breaks here. */
export type PlotValue = number | null;

export interface Spread {
  readonly low: readonly PlotValue[];
  readonly high: readonly PlotValue[];
}
export interface Aligned {
  readonly steps: number[];
  /** First step that each position of the axis holds; `steps` has the last. */
  readonly begins: number[];
  readonly values: PlotValue[][];
  /** Extremes of the columns that are in buckets. */
  readonly spreads: readonly (Spread | undefined)[];
}

/** A line joins what it has; farther apart than this, in usual distances, data are missing. */
const longGap = 8;
const samples = 64;

/** Over the union of the columns' steps; columns in buckets meet in the buckets. */
export function align(columns: readonly Column[]): Aligned {
  const walk = new Walk(columns);
  return alike(columns, walk.longest) ?? walked(columns, walk);
}

/** Where all columns have the same steps, as most do: nothing has to be searched. */
function alike(columns: readonly Column[], longest: number): Aligned | undefined {
  const filled = columns.filter((column) => column.steps.length > 0);
  const [first] = filled;
  if (first === undefined) return undefined;
  const { steps, begins = steps, width = 1 } = first;
  const same = (one: readonly number[], other: readonly number[]): boolean =>
    one === other || (one.length === other.length && one.every((step, i) => step === other[i]));
  const fit = filled.every(
    (column) =>
      (column.width ?? 1) === width &&
      same(column.steps, steps) &&
      same(column.begins ?? column.steps, begins),
  );
  if (!fit || steps.some((_, i) => i > 0 && begins[i]! - steps[i - 1]! > longest)) return undefined;
  const drawn = (list: readonly (number | null)[] | undefined): PlotValue[] =>
    list === undefined || list.length === 0
      ? new Array<PlotValue>(steps.length).fill(null)
      : list.map((value) => value ?? Number.NaN);
  return {
    steps: [...steps],
    begins: [...begins],
    values: columns.map(({ values }) => drawn(values)),
    spreads: columns.map(({ low, high }) =>
      width > 1 && low !== undefined ? { low: drawn(low), high: drawn(high) } : undefined,
    ),
  };
}

function walked(columns: readonly Column[], walk: Walk): Aligned {
  const rows: ColumnRows = {
    steps: [],
    begins: [],
    values: columns.map(() => []),
    low: columns.map(() => []),
    high: columns.map(() => []),
  };
  while (walk.next()) {
    const previous = rows.steps.at(-1);
    if (previous !== undefined && walk.begin - previous > walk.longest) addRow(rows, columns, previous + 1);
    addRow(rows, columns, walk.step, walk);
  }
  const { steps, begins, values, low, high } = rows;
  const spreads = columns.map((column, i) =>
    (column.width ?? 1) > 1 ? { low: low[i] ?? [], high: high[i] ?? [] } : undefined,
  );
  return { steps, begins, values, spreads };
}

interface ColumnRows {
  readonly steps: number[];
  readonly begins: number[];
  readonly values: PlotValue[][];
  readonly low: PlotValue[][];
  readonly high: PlotValue[][];
}

/** Without a walk: a place where nothing is known, so that a line can break there. */
function addRow(rows: ColumnRows, columns: readonly Column[], step: number, walk?: Walk): void {
  rows.steps.push(step);
  rows.begins.push(walk?.begin ?? step);
  for (let i = 0; i < columns.length; i++) {
    const { values, low, high } = columns[i]!;
    const at = walk === undefined ? -1 : walk.taken[i]!;
    rows.values[i]!.push(drawnAt(values, at));
    if (low === undefined || high === undefined) continue;
    rows.low[i]!.push(drawnAt(low, at));
    rows.high[i]!.push(drawnAt(high, at));
  }
}

const drawnAt = (list: readonly (number | null)[], at: number): PlotValue =>
  at < 0 ? null : (list[at] ?? Number.NaN);

/** Goes through several columns at once, from one place of their common axis to the next. */
class Walk {
  begin = 0;
  step = 0;
  /** Each column's index at this position; −1: it has nothing here. */
  readonly taken: number[];
  /** Gaps longer than this are ones. */
  readonly longest: number;
  readonly #at: number[];
  readonly #width: number;

  constructor(private readonly columns: readonly Column[]) {
    this.#at = columns.map(() => 0);
    this.taken = columns.map(() => -1);
    this.#width = Math.max(1, ...columns.map((column) => column.width ?? 1));
    const many = columns.filter((column) => column.steps.length > 3);
    this.longest =
      many.length === 0
        ? Number.POSITIVE_INFINITY
        : longGap * Math.min(...many.map((column) => usual(column.steps)));
  }

  next(): boolean {
    const bucket = this.#bucket();
    let step = bucket?.step ?? Number.POSITIVE_INFINITY;
    this.columns.forEach((column, i) => {
      const own = column.steps[this.#at[i]!];
      if (own !== undefined && !this.#inBuckets(column)) step = Math.min(step, own);
    });
    if (step === Number.POSITIVE_INFINITY) return false;
    const whole = bucket !== undefined && step === bucket.step;
    this.step = step;
    this.begin = whole ? bucket.begin : step;
    this.columns.forEach((column, i) => {
      const at = this.#at[i]!;
      const own = column.steps[at];
      const here =
        own !== undefined &&
        (this.#inBuckets(column) ? whole && this.#place(own) === bucket.place : own === step);
      this.taken[i] = here ? at : -1;
      if (here) this.#at[i] = at + 1;
    });
    return true;
  }

  /** The first bucket that is left, as far as any column's points in it reach. */
  #bucket(): { place: number; begin: number; step: number } | undefined {
    let found: { place: number; begin: number; step: number } | undefined;
    this.columns.forEach((column, i) => {
      const at = this.#at[i]!;
      const step = column.steps[at];
      if (step === undefined || !this.#inBuckets(column)) return;
      const place = this.#place(step);
      const begin = column.begins?.[at] ?? step;
      if (found === undefined || place < found.place) found = { place, begin, step };
      else if (place === found.place) {
        found.begin = Math.min(found.begin, begin);
        found.step = Math.max(found.step, step);
      }
    });
    return found;
  }

  #inBuckets({ width = 1 }: Column): boolean {
    return width > 1 && width === this.#width;
  }
  #place(step: number): number {
    return Math.floor(step / this.#width);
  }
}

/** Distance between neighbours that is usual: the median of a sample. */
function usual(steps: readonly number[]): number {
  const stride = Math.max(1, Math.floor(steps.length / samples));
  const distances: number[] = [];
  for (let i = 1; i < steps.length; i += stride) distances.push(steps[i]! - steps[i - 1]!);
  return distances.sort((a, b) => a - b)[distances.length >> 1] ?? 1;
}

/** A line's values with a break (NaN) in each long gap, and none elsewhere: other lines' steps do not break it. */
export function broken(steps: readonly number[], values: readonly PlotValue[]): readonly PlotValue[] {
  if (!values.includes(null)) return values;
  const known: number[] = [];
  for (let i = 0; i < values.length; i++) if (values[i] !== null) known.push(i);
  if (known.length < 4) return values;
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
export function stack(values: readonly (readonly PlotValue[])[]): PlotValue[][] {
  const tops = values.map(() => [] as PlotValue[]);
  for (let i = 0; i < (values[0]?.length ?? 0); i++) {
    let sum: PlotValue = 0;
    for (const column of values) {
      const value: PlotValue = column[i] ?? null;
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
export const withZeros = (values: readonly (readonly PlotValue[])[]): readonly (readonly PlotValue[])[] =>
  values.map((column) =>
    column.map((value, i) => (value === null && values.some((other) => other[i] !== null) ? 0 : value)),
  );
