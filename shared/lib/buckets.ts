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
    if (Number.isFinite(value)) this.join(step, step, 1, value, value, value);
    else this.join(step, step, 0, 0, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY);
  }

  /** Adds points of ascending steps, all after those that are here. */
  addAll(steps: Float64Array, values: Float64Array): void {
    for (let i = 0; i < steps.length;) {
      const begin = steps[i]!;
      const end = (this.placeOf(begin) + 1) * this.width;
      let [count, sum, low, high] = [0, 0, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
      for (; i < steps.length && steps[i]! < end; i++) {
        const value = values[i]!;
        if (!Number.isFinite(value)) continue;
        count += 1;
        sum += value;
        if (value < low) low = value;
        if (value > high) high = value;
      }
      this.join(begin, steps[i - 1]!, count, sum, low, high);
    }
  }

  /** What lies in one place: a bucket of its own, or more of the last one. */
  join(begin: number, step: number, count: number, sum: number, low: number, high: number): void {
    const last = this.steps.length - 1;
    if (last >= 0 && this.placeOf(this.steps[last]!) === this.placeOf(step)) {
      this.steps[last] = step;
      this.counts[last]! += count;
      this.sums[last]! += sum;
      this.low[last] = Math.min(this.low[last]!, low);
      this.high[last] = Math.max(this.high[last]!, high);
      return;
    }
    this.begins.push(begin);
    this.steps.push(step);
    this.counts.push(count);
    this.sums.push(sum);
    this.low.push(low);
    this.high.push(high);
  }

  /** The same points in buckets of a greater width. */
  widened(width: number): Buckets {
    const wider = new Buckets(width);
    this.steps.forEach((step, i) =>
      wider.join(this.begins[i]!, step, this.counts[i]!, this.sums[i]!, this.low[i]!, this.high[i]!),
    );
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
