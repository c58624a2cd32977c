/**
 * Series too long to be drawn point by point, in buckets of steps. Bucket i of width w holds the steps from i·w to
 * (i + 1)·w − 1, and w is a power of two: a point that is appended moves no border, all series of the same width have the
 * same borders, and the next width joins whole neighbours.
 */

/** The narrowest width at which the steps from `first` to `last` lie in at most `most` buckets. */
export function widthFor(first: number, last: number, most: number): number {
  let width = 1;
  while (Math.floor(last / width) - Math.floor(first / width) >= Math.max(1, most)) width *= 2;
  return width;
}

/** One series in buckets, those without a point left out. Numbers of a bucket are those of its finite values. */
export class Buckets {
  /** First and last step of each bucket's points, finite or not. */
  readonly begins: number[] = [];
  readonly steps: number[] = [];
  readonly counts: number[] = [];
  readonly sums: number[] = [];
  /** +∞ and −∞ where nothing is finite. */
  readonly low: number[] = [];
  readonly high: number[] = [];

  constructor(readonly width: number) {}

  /** The bucket that a step lies in. */
  placeOf(step: number): number {
    return Math.floor(step / this.width);
  }

  /** Adds the point of a step that is after all others. */
  add(step: number, value: number): void {
    const last = this.steps.length - 1;
    const finite = Number.isFinite(value);
    if (last < 0 || this.placeOf(this.steps[last]!) !== this.placeOf(step)) {
      this.begins.push(step);
      this.steps.push(step);
      this.counts.push(finite ? 1 : 0);
      this.sums.push(finite ? value : 0);
      this.low.push(finite ? value : Number.POSITIVE_INFINITY);
      this.high.push(finite ? value : Number.NEGATIVE_INFINITY);
      return;
    }
    this.steps[last] = step;
    if (!finite) return;
    this.counts[last]! += 1;
    this.sums[last]! += value;
    if (value < this.low[last]!) this.low[last] = value;
    if (value > this.high[last]!) this.high[last] = value;
  }

  /** Takes over a bucket, or joins it to the last one where both have the same place. */
  addBucket(from: Buckets, index: number): void {
    const last = this.steps.length - 1;
    const step = from.steps[index]!;
    if (last >= 0 && this.placeOf(this.steps[last]!) === this.placeOf(step)) {
      this.steps[last] = step;
      this.counts[last]! += from.counts[index]!;
      this.sums[last]! += from.sums[index]!;
      this.low[last] = Math.min(this.low[last]!, from.low[index]!);
      this.high[last] = Math.max(this.high[last]!, from.high[index]!);
      return;
    }
    this.begins.push(from.begins[index]!);
    this.steps.push(step);
    this.counts.push(from.counts[index]!);
    this.sums.push(from.sums[index]!);
    this.low.push(from.low[index]!);
    this.high.push(from.high[index]!);
  }

  /** The same points in buckets of a greater width. */
  widened(width: number): Buckets {
    const wider = new Buckets(width);
    this.steps.forEach((_, index) => wider.addBucket(this, index));
    return wider;
  }

  mean(index: number): number | null {
    const count = this.counts[index] ?? 0;
    return count === 0 ? null : this.sums[index]! / count;
  }
}

/** Metrics that are drawn on top of one another, so that only steps at which all of them are known can be averaged. */
export interface Stack {
  readonly metrics: readonly string[];
  /** What it says of a part that a step does not record while it records others: it was 0, or it is not known. */
  readonly absent: "zero" | "unknown";
}

/**
 * The values of a stack's parts at one step as they may be added up: absent ones (undefined) are 0 where that is what
 * absence says; all are NaN where any is not known.
 */
export function complete(
  values: readonly (number | null | undefined)[],
  absent: Stack["absent"],
): readonly number[] {
  const filled = values.map((value) =>
    value === undefined && absent === "zero" ? 0 : typeof value === "number" ? value : Number.NaN,
  );
  return filled.every((value) => Number.isFinite(value)) ? filled : filled.map(() => Number.NaN);
}
