/** A run's metrics as columns that live steps are merged into: pure, so that the merge can be tested without a page. */
import type { Column } from "./column.ts";
import { Buckets, complete, widthFor, type Stack } from "../../shared/lib/buckets.ts";
import { firstWhere } from "../../shared/lib/firstWhere.ts";
import { mostBuckets, panelStacks, type LiveStep } from "../../shared/editor/runPanel.ts";
import type { RecordedPoints, Series } from "../../shared/protocol/protocol.ts";

export { align, stack } from "./columns.ts";
interface GrowingColumn {
  steps: number[];
  values: (number | null)[];
}

/** First index whose step is not below `step`. */
const place = (steps: readonly number[], step: number): number =>
  firstWhere(steps.length, (at) => steps[at]! >= step);
const finiteOrNull = (value: number): number | null => (Number.isFinite(value) ? value : null);
const finite = (values: readonly (number | null)[]): number[] => values.filter((value) => value !== null);

interface FinitePoints {
  readonly steps: readonly number[];
  readonly values: readonly number[];
}

/** The finite points from a step on (of buckets, those that begin there or later), or a slice of them. */
function finitePoints(
  { steps, values, begins = steps }: Column,
  since: number,
  slice: readonly [from: number, to?: number],
): FinitePoints {
  const places = values
    .flatMap((value, i) => (value !== null && begins[i]! >= since ? [i] : []))
    .slice(...slice);
  return { steps: places.map((i) => steps[i]!), values: places.map((i) => values[i]!) };
}

function valueAt({ steps, values }: Column, step: number): number | null {
  const index = place(steps, step);
  return steps[index] === step ? (values[index] ?? null) : null;
}

/** Points at either end that are kept as they were recorded, once a series is in buckets. */
const [headPoints, tailPoints] = [10, 64];

/** One metric: its points while all of them fit, else buckets and the exact points at both ends. */
type Store =
  | { readonly kind: "points"; readonly points: GrowingColumn }
  | {
      readonly kind: "buckets";
      readonly buckets: Buckets;
      readonly head: GrowingColumn;
      readonly tail: GrowingColumn;
      /** What the buckets came to when they were last asked for. */
      drawn: Column | null;
    };

export class RunSeries {
  readonly #stores = new Map<string, Store>();
  #attempt = 0;
  #first = 0;
  #last = -1;
  #width = 1;
  #stacks: readonly Stack[] | null = null;

  /** @param most buckets at the most: beyond them, neighbours are joined */
  constructor(private readonly most = mostBuckets) {}

  /** Last step of which anything is known; −1 before the first. */
  get last(): number {
    return this.#last;
  }
  /** Steps in a bucket; 1: single points. */
  get width(): number {
    return this.#width;
  }
  get names(): readonly string[] {
    return [...this.#stores.keys()].sort();
  }

  /**
   * Replaces everything.
   * @param first where the buckets are counted from: the first step that was asked for
   */
  load(series: readonly Series[], attempt: number, first = 0): void {
    this.#stores.clear();
    this.#stacks = null;
    this.#attempt = attempt;
    this.#first = first;
    this.#last = -1;
    this.#width = 1;
    for (const one of series) {
      if (one.steps.length === 0) continue;
      this.#stores.set(one.metric, storeOf(one));
      this.#width = Math.max(this.#width, one.width ?? 1);
      this.#last = Math.max(this.#last, one.steps[one.steps.length - 1]!);
    }
    // Answers that came while the run went on may have been made at two widths.
    this.#widen();
  }

  /** Takes in other metrics of the same run, or the same ones afresh. */
  include(series: readonly Series[]): void {
    for (const one of series) {
      if (one.steps.length === 0) continue;
      this.#stores.set(one.metric, storeOf(one));
      this.#width = Math.max(this.#width, one.width ?? 1);
    }
    this.#stacks = null;
    this.#widen();
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
    this.#last = Math.max(this.#last, step.step);
    this.#widen();
    const stacked = this.#width === 1 ? new Map<string, number>() : this.#stackedValues(step.metrics);
    for (const [metric, value] of Object.entries(step.metrics))
      this.#put(metric, step.step, value, stacked.get(metric));
    for (const [metric, value] of stacked) if (!(metric in step.metrics)) this.#add(metric, step.step, value);
  }

  column(metric: string): Column {
    const store = this.#stores.get(metric);
    if (store === undefined) return { steps: [], values: [] };
    return store.kind === "points" ? store.points : (store.drawn ??= columnOf(store.buckets));
  }

  /** The last finite value at or before a step. */
  at(metric: string, step = Number.POSITIVE_INFINITY): number | null {
    return before(this.#exact(metric), step) ?? before(this.column(metric), step);
  }

  /** The value at exactly this step, where single points are known. */
  exactly(metric: string, step: number): number | null {
    const store = this.#stores.get(metric);
    return (
      valueAt(this.#exact(metric), step) ?? (store?.kind === "buckets" ? valueAt(store.head, step) : null)
    );
  }

  /** The value at this step, else that of the bucket that ends there. */
  near(metric: string, step: number): number | null {
    return this.exactly(metric, step) ?? valueAt(this.column(metric), step);
  }

  /**
   * The first finite points from a step on, as they were recorded. In the middle of a long run single points are not
   * known: there they are means of buckets.
   */
  firstPoints(metric: string, count: number, since = 0): FinitePoints {
    const store = this.#stores.get(metric);
    if (store?.kind !== "buckets") return finitePoints(this.#exact(metric), since, [0, count]);
    const { head, tail } = store;
    const [first = since, late = Number.POSITIVE_INFINITY] = [head.steps[0], tail.steps[0]];
    const known = first >= since ? head : late <= since ? tail : this.column(metric);
    return finitePoints(known, since, [0, count]);
  }
  /** The last finite points, as they were recorded, from a step on. */
  lastPoints(metric: string, count: number, since = 0): FinitePoints {
    return finitePoints(this.#exact(metric), since, [-count]);
  }
  /** The last finite values, as they were recorded, from a step on. */
  latest(metric: string, count: number, since = 0): readonly number[] {
    return this.lastPoints(metric, count, since).values;
  }
  /** The sum of all finite values up to a step, at each step (of buckets, at their ends) that has one. */
  sums(metric: string): FinitePoints {
    const store = this.#stores.get(metric);
    const [steps, values] =
      store?.kind === "buckets"
        ? [store.buckets.steps, store.buckets.sums]
        : [this.#exact(metric).steps, this.#exact(metric).values];
    let sum = 0;
    return { steps: [...steps], values: values.map((value) => (sum += value ?? 0)) };
  }
  /** Of all finite values. */
  sum(metric: string): number {
    const store = this.#stores.get(metric);
    const values = store?.kind === "buckets" ? store.buckets.sums : finite(this.#exact(metric).values);
    return values.reduce((sum, value) => sum + value, 0);
  }

  #exact(metric: string): RecordedPoints {
    const store = this.#stores.get(metric);
    return store === undefined
      ? { steps: [], values: [] }
      : store.kind === "points"
        ? store.points
        : store.tail;
  }

  /** To a bucket. What is in one cannot be taken out again: a step that was already loaded stays as it is. */
  #add(metric: string, step: number, value: number): boolean {
    const store = this.#stores.get(metric);
    if (store?.kind !== "buckets" || step <= (store.buckets.steps.at(-1) ?? -1)) return false;
    store.buckets.add(step, value);
    store.drawn = null;
    return true;
  }

  /** Joins neighbours where there have come to be too many, and brings all to one width. */
  #widen(): void {
    const width = Math.max(this.#width, widthFor(this.#first, this.#last, this.most));
    if (width === 1) return;
    const narrower = [...this.#stores].filter(
      ([, store]) => store.kind === "points" || store.buckets.width < width,
    );
    this.#width = width;
    if (narrower.length === 0) return;
    const stacks = panelStacks(this.names);
    const asPoints = (metric: string): boolean => this.#stores.get(metric)?.kind === "points";
    for (const stack of stacks.filter(({ metrics }) => metrics.every(asPoints))) this.#gather(stack, width);
    for (const [metric] of narrower) {
      const store = this.#stores.get(metric)!;
      if (store.kind === "points") this.#gather({ metrics: [metric], absent: "unknown" }, width);
      else if (store.buckets.width < width)
        this.#stores.set(metric, { ...store, buckets: store.buckets.widened(width), drawn: null });
    }
  }

  /** Single points into buckets, those of a stack together. */
  #gather(stack: Stack, width: number): void {
    const columns = stack.metrics.map((metric) => this.#exact(metric));
    const gathered = columns.map(() => new Buckets(width));
    const steps = [...new Set(columns.flatMap((column) => column.steps))].sort((a, b) => a - b);
    const at = columns.map(() => 0);
    for (const step of steps) {
      const values = columns.map((column, part) =>
        column.steps[at[part]!] === step ? column.values[at[part]!++] : undefined,
      );
      const alone = values.length === 1 ? [values[0] ?? Number.NaN] : complete(values, stack.absent);
      alone.forEach((value, part) => gathered[part]!.add(step, value));
    }
    stack.metrics.forEach((metric, part) => {
      const { steps, values } = columns[part]!;
      this.#stores.set(metric, {
        kind: "buckets",
        buckets: gathered[part]!,
        head: { steps: steps.slice(0, headPoints), values: values.slice(0, headPoints) },
        tail: { steps: steps.slice(-tailPoints), values: values.slice(-tailPoints) },
        drawn: null,
      });
    });
  }

  /** What the parts of stacks add to their buckets. */
  #stackedValues(metrics: LiveStep["metrics"]): Map<string, number> {
    const fresh = Object.keys(metrics).some((metric) => !this.#stores.has(metric));
    if (fresh || this.#stacks === null)
      this.#stacks = panelStacks([...new Set([...this.#stores.keys(), ...Object.keys(metrics)])]);
    const added = new Map<string, number>();
    for (const stack of this.#stacks) {
      if (!stack.metrics.some((metric) => metric in metrics)) continue;
      const values = complete(
        stack.metrics.map((metric) => metrics[metric]),
        stack.absent,
      );
      stack.metrics.forEach((metric, part) => added.set(metric, values[part]!));
    }
    return added;
  }

  #cutFrom(step: number): void {
    const begin = Math.floor(step / this.#width) * this.#width;
    for (const [metric, store] of this.#stores) {
      const left = store.kind === "points" ? cutPoints(store.points, step) : cutBuckets(store, begin, step);
      if (left) continue;
      this.#stores.delete(metric);
      this.#stacks = null;
    }
    this.#last = Math.min(this.#last, step - 1);
  }

  /** @param stacked what goes into the bucket, where that is not the value itself */
  #put(metric: string, step: number, value: number | null, stacked: number | undefined): void {
    let store = this.#stores.get(metric);
    if (store === undefined) this.#stores.set(metric, (store = emptyStore(this.#width)));
    if (store.kind === "points") return putPoint(store.points, step, value);
    const { head, tail } = store;
    if (!this.#add(metric, step, stacked ?? value ?? Number.NaN)) return;
    putPoint(tail, step, value);
    if (head.steps.length < headPoints) putPoint(head, step, value);
    if (tail.steps.length <= 2 * tailPoints) return;
    tail.steps.splice(0, tailPoints);
    tail.values.splice(0, tailPoints);
  }
}

const emptyStore = (width: number): Store =>
  width === 1
    ? { kind: "points", points: { steps: [], values: [] } }
    : {
        kind: "buckets",
        buckets: new Buckets(width),
        head: { steps: [], values: [] },
        tail: { steps: [], values: [] },
        drawn: null,
      };

function storeOf({ steps, values, width = 1, begins, counts, low, high, head, tail }: Series): Store {
  if (width === 1) return { kind: "points", points: { steps: [...steps], values: [...values] } };
  const buckets = new Buckets(width);
  steps.forEach((step, i) => {
    const count = counts?.[i] ?? (values[i] == null ? 0 : 1);
    buckets.begins.push(begins?.[i] ?? step);
    buckets.steps.push(step);
    buckets.counts.push(count);
    buckets.sums.push((values[i] ?? 0) * count);
    buckets.low.push(low?.[i] ?? values[i] ?? Number.POSITIVE_INFINITY);
    buckets.high.push(high?.[i] ?? values[i] ?? Number.NEGATIVE_INFINITY);
  });
  return { kind: "buckets", buckets, head: grown(head), tail: grown(tail), drawn: null };
}

const grown = (points?: RecordedPoints): GrowingColumn => ({
  steps: [...(points?.steps ?? [])],
  values: [...(points?.values ?? [])],
});

const columnOf = (buckets: Buckets): Column => ({
  steps: [...buckets.steps],
  values: buckets.steps.map((_, i) => buckets.mean(i)),
  width: buckets.width,
  begins: [...buckets.begins],
  low: buckets.low.map(finiteOrNull),
  high: buckets.high.map(finiteOrNull),
});

function before({ steps, values }: RecordedPoints, step: number): number | null {
  for (let i = firstWhere(steps.length, (at) => steps[at]! > step) - 1; i >= 0; i--)
    if (values[i] != null) return values[i]!;
  return null;
}

function putPoint(column: GrowingColumn, step: number, value: number | null): void {
  const index = place(column.steps, step);
  if (column.steps[index] === step) column.values[index] = value;
  else {
    column.steps.splice(index, 0, step);
    column.values.splice(index, 0, value);
  }
}

/** Whether anything is left. */
function cutPoints(column: GrowingColumn, step: number): boolean {
  const end = place(column.steps, step);
  column.steps.length = end;
  column.values.length = end;
  return end > 0;
}

/** A bucket that the step lies in goes whole: what is left of it is not known until the run is loaded again. */
function cutBuckets(store: Store & { kind: "buckets" }, begin: number, step: number): boolean {
  const { begins, steps, counts, sums, low, high } = store.buckets;
  const end = place(steps, begin);
  for (const list of [begins, steps, counts, sums, low, high]) list.length = end;
  cutPoints(store.tail, step);
  store.drawn = null;
  return end > 0;
}
