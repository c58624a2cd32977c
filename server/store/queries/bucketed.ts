/**
 * Series as charts draw them: all in buckets with the same borders, whatever each of them has recorded. Read window by
 * window, so that a series of a million points is never held whole, and others may ask in between.
 */
import { Buckets, widthFor, type Stack } from "../../../shared/lib/buckets.ts";
import type { RecordedPoints, Series } from "../../../shared/protocol/protocol.ts";
import { joined, type PointArrays } from "../ingest/points.ts";
import { Smoother } from "./smoother.ts";

interface BucketsWanted {
  readonly metrics: readonly string[];
  readonly stacks: readonly Stack[];
  /** First and last step. */
  readonly first: number;
  readonly last: number;
  readonly most: number;
  /** Of each series, a moving average with this factor in place of its points; 0 or absent: none. */
  readonly smooth?: number;
}
/** A metric's points with `after` < step < `before`. */
export type ReadWindow = (metric: string, after: number, before: number) => PointArrays;

/** Steps read at once; more where a run has so many that windows would be too many. */
const windowSteps = 32_768;
const mostWindows = 64;
const [headPoints, tailPoints] = [10, 32];

/** Yields after each window, where another question may be answered. */
export function* bucketed(wanted: BucketsWanted, read: ReadWindow): Generator<void, Series[]> {
  const { metrics, first, last, most, smooth = 0 } = wanted;
  const width = widthFor(first, last, most);
  const window = Math.max(width, windowSteps, widthFor(first, last, mostWindows));
  const series = new Map(metrics.map((metric) => [metric, new BucketedSeries(width)]));
  const parts = partsOf(metrics, wanted.stacks);
  const smoothers = new Map(smooth > 0 ? metrics.map((metric) => [metric, new Smoother(smooth)]) : []);
  const shown = (metric: string, points: PointArrays): PointArrays =>
    smoothers.get(metric)?.smoothed(points) ?? points;
  // An average of a part of the run is that of the whole run: it has seen what came before.
  for (let begin = 0; smooth > 0 && begin < first; begin += window) {
    for (const metric of metrics) shown(metric, read(metric, begin - 1, Math.min(begin + window, first)));
    yield;
  }
  for (let begin = Math.floor(first / window) * window; begin <= last; begin += window) {
    const [after, before] = [Math.max(begin, first) - 1, Math.min(begin + window, last + 1)];
    for (const stack of parts) {
      const points = stack.metrics.map((metric) => shown(metric, read(metric, after, before)));
      const readings = stack.metrics.map((metric) => series.get(metric)!);
      readings.forEach((reading, i) => reading.note(points[i]!));
      // Single points are given as they were recorded.
      const whole = readings.length === 1 || width === 1 ? points : completed(points, stack.absent);
      readings.forEach((reading, i) => reading.fill(whole[i]!));
      yield;
    }
  }
  return [...series].map(([metric, reading]) => reading.series(metric));
}

/** Every metric in one stack only: what no stack names is alone. */
function partsOf(metrics: readonly string[], stacks: readonly Stack[]): readonly Stack[] {
  const free = new Set(metrics);
  const taken = stacks.map(({ metrics: own, absent }) => ({
    metrics: own.filter((metric) => free.delete(metric)),
    absent,
  }));
  const alone = [...free].map((metric) => ({ metrics: [metric], absent: "unknown" as const }));
  return [...taken.filter((stack) => stack.metrics.length > 0), ...alone];
}

class BucketedSeries {
  readonly buckets: Buckets;
  #total = 0;
  readonly #head: RecordedPoints & { steps: number[]; values: (number | null)[] } = { steps: [], values: [] };
  #tail: { steps: number[]; values: (number | null)[] } = { steps: [], values: [] };

  constructor(width: number) {
    this.buckets = new Buckets(width);
  }

  /** Counts the points, and keeps the first and last. */
  note({ steps, values }: PointArrays): void {
    this.#total += steps.length;
    for (let i = 0; i < steps.length && this.#head.steps.length < headPoints; i++) {
      this.#head.steps.push(steps[i]!);
      this.#head.values.push(finiteOrNull(values[i]!));
    }
    this.#tail = {
      steps: [...this.#tail.steps, ...steps.subarray(-tailPoints)].slice(-tailPoints),
      values: [...this.#tail.values, ...Array.from(values.subarray(-tailPoints), finiteOrNull)].slice(
        -tailPoints,
      ),
    };
  }

  fill({ steps, values }: PointArrays): void {
    this.buckets.addAll(steps, values);
  }

  series(metric: string): Series {
    const { width, steps, begins, counts, low, high } = this.buckets;
    const values = steps.map((_, i) => this.buckets.mean(i));
    const plain = { metric, steps, values, total: this.#total, width };
    if (width === 1) return plain;
    return {
      ...plain,
      begins,
      counts,
      low: low.map(finiteOrNull),
      high: high.map(finiteOrNull),
      head: this.#head,
      tail: this.#tail,
    };
  }
}

const finiteOrNull = (value: number): number | null => (Number.isFinite(value) ? value : null);

/** Parts of a stack at the same steps, with a number in all of them or in none. */
function completed(points: readonly PointArrays[], absent: Stack["absent"]): readonly PointArrays[] {
  const [first] = points;
  const alike = points.every(
    ({ steps }) => steps.length === first?.steps.length && steps.every((step, i) => step === first.steps[i]),
  );
  const together = alike ? points : onUnion(points, absent);
  const steps = together[0]?.steps ?? new Float64Array();
  for (let i = 0; i < steps.length; i++)
    if (!together.every(({ values }) => Number.isFinite(values[i])))
      for (const { values } of together) values[i] = Number.NaN;
  return together;
}

/** Over all steps that any part has recorded. */
function onUnion(points: readonly PointArrays[], absent: Stack["absent"]): readonly PointArrays[] {
  const steps = joined(points.map((part) => ({ steps: part.steps, values: part.steps }))).steps;
  return points.map((part) => {
    const values = new Float64Array(steps.length).fill(absent === "zero" ? 0 : Number.NaN);
    let at = 0;
    part.steps.forEach((step, i) => {
      while (steps[at]! < step) at++;
      values[at] = part.values[i]!;
    });
    return { steps, values };
  });
}
