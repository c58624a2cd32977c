/** A run's metrics as columns that live steps are merged into: pure, so that the merge can be tested without a page. */
import { firstWhere } from "../../shared/firstWhere.ts";
import type { LiveStep } from "../../shared/runPanel.ts";
import type { Series } from "../../shared/protocol.ts";

export interface Column {
  readonly steps: readonly number[];
  readonly values: readonly (number | null)[];
}
interface GrowingColumn {
  steps: number[];
  values: (number | null)[];
}

/** First index whose step is not below `step`. */
const place = (steps: readonly number[], step: number): number =>
  firstWhere(steps.length, (at) => steps[at]! >= step);

export class RunSeries {
  readonly #columns = new Map<string, GrowingColumn>();
  #attempt = 0;
  #last = -1;

  /** Last step of which anything is known; −1 before the first. */
  get last(): number {
    return this.#last;
  }
  get names(): readonly string[] {
    return [...this.#columns.keys()].sort();
  }

  /** Replaces everything. */
  load(series: readonly Series[], attempt: number): void {
    this.#columns.clear();
    this.#last = -1;
    this.#attempt = attempt;
    for (const { metric, steps, values } of series) {
      if (steps.length === 0) continue;
      this.#columns.set(metric, { steps: [...steps], values: [...values] });
      this.#last = Math.max(this.#last, steps[steps.length - 1]!);
    }
  }

  /**
   * Merges one committed step. A later attempt that begins before the last known step takes the place of what the
   * earlier attempt had recorded from there on; within an attempt a step that comes twice replaces itself.
   */
  merge(step: LiveStep): void {
    if (step.attempt < this.#attempt) return;
    if (step.attempt > this.#attempt) {
      this.#attempt = step.attempt;
      this.#cutFrom(step.step);
    }
    for (const [metric, value] of Object.entries(step.metrics)) this.#put(metric, step.step, value);
    this.#last = Math.max(this.#last, step.step);
  }

  column(metric: string): Column {
    return this.#columns.get(metric) ?? { steps: [], values: [] };
  }

  /** The last finite value at or before a step. */
  at(metric: string, step = Number.POSITIVE_INFINITY): number | null {
    const { steps, values } = this.column(metric);
    const index = steps[place(steps, step)] === step ? place(steps, step) : place(steps, step) - 1;
    for (let i = Math.min(index, values.length - 1); i >= 0; i--)
      if (values[i] !== null) return values[i] ?? null;
    return null;
  }

  /** The value at exactly this step. */
  exactly(metric: string, step: number): number | null {
    const { steps, values } = this.column(metric);
    const index = place(steps, step);
    return steps[index] === step ? (values[index] ?? null) : null;
  }

  #cutFrom(step: number): void {
    for (const [metric, column] of this.#columns) {
      const end = place(column.steps, step);
      column.steps.length = end;
      column.values.length = end;
      if (end === 0) this.#columns.delete(metric);
    }
    this.#last = Math.min(this.#last, step - 1);
  }

  #put(metric: string, step: number, value: number | null): void {
    let column = this.#columns.get(metric);
    if (column === undefined) this.#columns.set(metric, (column = { steps: [], values: [] }));
    const index = place(column.steps, step);
    if (column.steps[index] === step) {
      column.values[index] = value;
      return;
    }
    column.steps.splice(index, 0, step);
    column.values.splice(index, 0, value);
  }
}

/** Several columns over the union of their steps: what a chart draws. */
export function align(columns: readonly Column[]): {
  readonly steps: number[];
  readonly values: (number | null)[][];
} {
  const steps = [...new Set(columns.flatMap((column) => column.steps))].sort((a, b) => a - b);
  const values = columns.map((column) => {
    let from = 0;
    return steps.map((step) => {
      while (from < column.steps.length && column.steps[from]! < step) from++;
      return column.steps[from] === step ? (column.values[from] ?? null) : null;
    });
  });
  return { steps, values };
}

/** Each column on top of those before it; a step at which all are missing stays missing. */
export function stack(values: readonly (readonly (number | null)[])[]): (number | null)[][] {
  const length = values[0]?.length ?? 0;
  const sums: number[] = new Array<number>(length).fill(0);
  const known = Array.from({ length }, (_, i) =>
    values.some((column) => column[i] !== null && column[i] !== undefined),
  );
  return values.map((column) =>
    Array.from({ length }, (_, i) => (known[i] === true ? (sums[i] = sums[i]! + (column[i] ?? 0)) : null)),
  );
}
