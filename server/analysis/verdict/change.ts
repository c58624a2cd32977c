/**
 * When a metric went from one level to another: a level, a straight line and a level, by least squares over all pairs of
 * places where the line may begin and end. Source: Hinkley, "Inference about the intersection in two-phase regression".
 */

/** Places of the last value on the old level and of the first on the new one. */
export interface Change {
  readonly begin: number;
  readonly end: number;
}

/** Standard errors that count as a change. */
export const beyondNoise = 4;
/** Pairs of places are looked at on a grid of so many a side, which closes in on the best. */
const grid = 32;
/** Two levels and two places. */
const fitted = 4;

/** null: none beyond noise. @param values without gaps @param begin where the line begins, where that is known */
export function changeIn(values: readonly number[], begin?: number): Change | null {
  const sums = new Sums(values);
  const last = values.length - 1;
  let best: Change = { begin: begin ?? 0, end: last };
  let left = sums.squares;
  let [around, apart] = [last, Math.max(1, Math.ceil(last / grid))];
  for (;;) {
    const { begin: from, end: to } = best;
    for (const first of begin === undefined ? near(from, around, apart, last) : [begin])
      for (const end of near(to, around, apart, last)) {
        const error = end > first ? sums.left(first, end) : Number.POSITIVE_INFINITY;
        if (error < left) [left, best] = [error, { begin: first, end }];
      }
    if (apart === 1) break;
    [around, apart] = [2 * apart, Math.ceil(apart / 4)];
  }
  const noise = left / Math.max(1, values.length - fitted);
  return sums.squares - left > beyondNoise ** 2 * noise ? best : null;
}

function near(at: number, around: number, apart: number, last: number): readonly number[] {
  const places: number[] = [];
  for (let place = at - around; place <= at + around; place += apart)
    if (place >= 0 && place <= last) places.push(place);
  return places;
}

/** Squares about the fit, from sums that are added up once. */
class Sums {
  private readonly ys = [0];
  private readonly tys = [0];
  /** About the mean of all. */
  readonly squares: number = 0;

  constructor(private readonly values: readonly number[]) {
    const middle = values.reduce((sum, value) => sum + value, 0) / values.length;
    for (const [t, value] of values.entries()) {
      const y = value - middle;
      this.ys.push(this.ys[t]! + y);
      this.tys.push(this.tys[t]! + t * y);
      this.squares += y * y;
    }
  }

  /** What a regression leaves on what is 0 up to `begin`, 1 from `end` on, and straight between them. */
  left(begin: number, end: number): number {
    const n = this.values.length;
    const [length, after] = [end - begin, n - end];
    const sum = (length - 1) / 2 + after;
    const squares = ((length - 1) * (2 * length - 1)) / (6 * length) + after;
    const y = this.ys[end]! - this.ys[begin + 1]!;
    const ty = this.tys[end]! - this.tys[begin + 1]!;
    const product = (ty - begin * y) / length + this.ys[n]! - this.ys[end]!;
    return this.squares - product ** 2 / (squares - sum ** 2 / n);
  }
}
