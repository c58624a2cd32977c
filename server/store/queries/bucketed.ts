/**
 * Series as charts draw them: all in buckets with the same borders, whatever each of them has recorded. Read window by
 * window, so that a series of a million points is never held whole, and others may ask in between.
 */
import { Buckets, widthFor, type Stack } from "../../../shared/lib/buckets.ts";
import type { RecordedPoints, Series } from "../../../shared/protocol/protocol.ts";
import { addCells, cellWidth } from "../ingest/levels.ts";
import { joined, type PointArrays } from "../ingest/points.ts";
import type { LevelPart } from "./levelled.ts";
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
/** Parts that the last points may be in: the one that is not packed may be short, or empty. */
const mostBehind = 34;

/** A metric's points of ascending steps, from `after` to `before`; false: they cannot be read in that way. */
export type ReadParts = (metric: string, after: number, before: number) => Generator<LevelPart, boolean>;

/** Yields after each window, where another question may be answered. */
export function* bucketed(
  wanted: BucketsWanted,
  read: ReadWindow,
  readParts?: ReadParts,
): Generator<void, Series[]> {
  const { metrics, first, last, most, smooth = 0 } = wanted;
  const width = widthFor(first, last, most);
  const window = Math.max(width, windowSteps, widthFor(first, last, mostWindows));
  const series = new Map(metrics.map((metric) => [metric, new BucketedSeries(width)]));
  const parts: Stack[] = [];
  for (const stack of partsOf(metrics, wanted.stacks)) {
    const [metric] = stack.metrics;
    // An average over steps needs each of them, and a stack those at which all its parts are known.
    const levels =
      smooth === 0 && width >= cellWidth && stack.metrics.length === 1 && metric !== undefined
        ? readParts?.(metric, first - 1, last + 1)
        : undefined;
    const levelled = levels === undefined ? undefined : yield* inCells(width, levels);
    if (levelled === undefined) parts.push(stack);
    else series.set(metric!, levelled);
  }
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

/** Parts between which another question may be answered. */
const partsAtOnce = 256;

/** undefined: its points are read, window by window. */
function* inCells(
  width: number,
  parts: Generator<LevelPart, boolean>,
): Generator<void, BucketedSeries | undefined> {
  const series = new BucketedSeries(width);
  for (let count = 1; ; count++) {
    const part = parts.next();
    if (part.done === true) {
      series.end();
      return part.value ? series : undefined;
    }
    series.part(part.value);
    if (count % partsAtOnce === 0) yield;
  }
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
  /** What reads the last parts. */
  readonly #behind: (() => PointArrays)[] = [];
  #tail: { steps: number[]; values: (number | null)[] } = { steps: [], values: [] };

  constructor(width: number) {
    this.buckets = new Buckets(width);
  }

  /** Counts the points, and keeps the first and last. */
  note({ steps, values }: PointArrays): void {
    this.#total += steps.length;
    this.#noteHead({ steps, values });
    this.#noteTail({ steps, values });
  }

  #noteHead({ steps, values }: PointArrays): void {
    for (let i = 0; i < steps.length && this.#head.steps.length < headPoints; i++) {
      this.#head.steps.push(steps[i]!);
      this.#head.values.push(finiteOrNull(values[i]!));
    }
  }

  #noteTail({ steps, values }: PointArrays): void {
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

  /** Points of a later part, or the cells that stand for them. */
  part(part: LevelPart): void {
    if (part.kind === "points") {
      this.#behind.push(() => part.points);
      this.#total += part.points.steps.length;
      this.#noteHead(part.points);
      this.fill(part.points);
    } else {
      this.#behind.push(part.points);
      if (this.#head.steps.length < headPoints) this.#noteHead(part.points());
      this.#total += addCells(this.buckets, part.cells);
    }
    // A packed row has more points than are shown of the end.
    if (this.#behind.length > mostBehind) this.#behind.shift();
  }

  /** Of the last parts, the points as they were recorded. */
  end(): void {
    const last: PointArrays[] = [];
    for (let count = 0, at = this.#behind.length - 1; count < tailPoints && at >= 0; at--) {
      const points = this.#behind[at]!();
      last.unshift(points);
      count += points.steps.length;
    }
    this.#tail = { steps: [], values: [] };
    for (const points of last) this.#noteTail(points);
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
