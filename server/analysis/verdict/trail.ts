/** A metric over the training steps so far, with the mean of any late stretch of them at once. */

/** Steps that a mean is taken over. */
export const window = 10;
/** Steps that are looked back on: a run of a million is no more to hold than one of some thousands. */
export const reach = 4_096;

export interface Stretch {
  /** NaN where no step of the stretch has a number. */
  readonly mean: number;
  /** Standard error of the mean: steps count as independent. */
  readonly error: number;
  readonly count: number;
}
const nothing: Stretch = { mean: Number.NaN, error: Number.NaN, count: 0 };

/** By place: the first training step is 0. A step without a finite number counts nothing. */
export class Trail {
  private sums: number[] = [0];
  private squares: number[] = [0];
  private counts: number[] = [0];
  /** Place of the first step that is held. */
  private base = 0;
  private readonly head: number[] = [];
  /** What is squared is small, so that sums of squares keep their digits. */
  private offset = Number.NaN;

  /** @param absent steps before the metric was first recorded */
  constructor(absent = 0) {
    for (let step = 0; step < absent; step++) this.push(Number.NaN);
  }

  push(value: number): void {
    if (this.head.length < window) this.head.push(value);
    const known = Number.isFinite(value);
    if (known && Number.isNaN(this.offset)) this.offset = value;
    const shifted = known ? value - this.offset : 0;
    const at = this.sums.length - 1;
    this.sums.push(this.sums[at]! + shifted);
    this.squares.push(this.squares[at]! + shifted * shifted);
    this.counts.push(this.counts[at]! + (known ? 1 : 0));
    if (at + 1 >= 2 * reach) this.forget();
  }

  private forget(): void {
    const sum = this.sums[reach]!;
    const square = this.squares[reach]!;
    const count = this.counts[reach]!;
    this.sums = this.sums.slice(reach).map((one) => one - sum);
    this.squares = this.squares.slice(reach).map((one) => one - square);
    this.counts = this.counts.slice(reach).map((one) => one - count);
    this.base += reach;
  }

  get length(): number {
    return this.base + this.sums.length - 1;
  }
  /** Place of the first step that can be looked back on. */
  get begin(): number {
    return this.base;
  }

  /** Places from ≤ i < to, of those that are held. */
  over(from: number, to: number): Stretch {
    const [begin, end] = [Math.max(0, from - this.base), Math.min(this.length, to) - this.base];
    const count = end > begin ? this.counts[end]! - this.counts[begin]! : 0;
    if (count === 0) return nothing;
    const mean = (this.sums[end]! - this.sums[begin]!) / count;
    const variance = Math.max(0, (this.squares[end]! - this.squares[begin]!) / count - mean * mean);
    const value = mean + this.offset;
    // A difference of sums that should be 0 hardly ever is.
    return {
      mean: Math.abs(value) < rounding * Math.abs(this.offset) ? 0 : value,
      error: errorOf(variance, count),
      count,
    };
  }
  /** The last `window` steps. */
  last(): Stretch {
    return this.over(this.length - window, this.length);
  }
  /** The first `window` steps. */
  first(): Stretch {
    const known = this.head.filter(Number.isFinite);
    if (known.length === 0) return nothing;
    const mean = known.reduce((sum, value) => sum + value, 0) / known.length;
    const variance = known.reduce((sum, value) => sum + (value - mean) ** 2, 0) / known.length;
    return { mean, error: errorOf(variance, known.length), count: known.length };
  }

  /** As `first`, its error by the differences of neighbours: what moves within these steps already is no noise. */
  firstMoving(): Stretch {
    const first = this.first();
    const known = this.head.filter(Number.isFinite);
    if (known.length < window) return first;
    const squares = known.slice(1).reduce((sum, value, at) => sum + (value - known[at]!) ** 2, 0);
    const error = errorOf(squares / (2 * (known.length - 1)), known.length);
    return { ...first, error: Math.min(first.error, error) };
  }

  /** The least place from which on every stretch of `window` steps satisfies a condition up to now; the first step of them that does, too. */
  sinceAll(holds: (stretch: Stretch) => boolean): number {
    let end = this.length;
    while (end - window > this.base && holds(this.over(end - 1 - window, end - 1))) end -= 1;
    const begin = Math.max(0, end - window);
    for (let place = begin; place < end; place++)
      // A step alone has no error.
      if (holds({ ...this.over(place, place + 1), error: 0 })) return place;
    return begin;
  }
}

/** Of what the sums are made of. */
const rounding = 1e-12;

const errorOf = (variance: number, count: number): number =>
  count < 2 ? Number.POSITIVE_INFINITY : Math.sqrt(variance / (count - 1));

/** How far a mean has moved from another, in standard errors of the difference. */
export const movedBy = (from: Stretch, to: Stretch): number => {
  const change = to.mean - from.mean;
  return change === 0 ? 0 : change / Math.hypot(from.error, to.error);
};
