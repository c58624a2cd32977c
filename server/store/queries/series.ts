/** Reducing a series to what a chart can show, without losing a spike. */

export interface Points {
  readonly steps: ArrayLike<number>;
  /** null, NaN or infinite where there is nothing to draw. */
  readonly values: ArrayLike<number | null>;
}
interface Reduced {
  readonly steps: readonly number[];
  /** null where the value is not finite. */
  readonly values: readonly (number | null)[];
  readonly low?: readonly (number | null)[];
  readonly high?: readonly (number | null)[];
}

/**
 * At most `maximum` of the points, all of them true ones: of each bucket its lowest and its highest in the order they
 * came, with the bucket's extremes with each; the first and the last point always. The same points give the same
 * picture every time.
 */
export function reduce(points: Points, maximum: number): Reduced {
  const count = points.steps.length;
  if (count <= maximum)
    return { steps: Array.from(points.steps), values: Array.from(points.values, finiteOrNull) };
  const picked = new Picked(points);
  if (maximum < 4) {
    const { lowest, highest } = ends(points, 0, count);
    for (const index of [0, count - 1].slice(-maximum)) picked.add(index, lowest, highest);
    return picked;
  }
  const buckets = Math.floor((maximum - 2) / 2);
  picked.add(0, 0, 0);
  for (let bucket = 0; bucket < buckets; bucket++) {
    const begin = 1 + Math.floor((bucket * (count - 2)) / buckets);
    const end = 1 + Math.floor(((bucket + 1) * (count - 2)) / buckets);
    const { lowest, highest } = ends(points, begin, end);
    picked.add(Math.min(lowest, highest), lowest, highest);
    if (lowest !== highest) picked.add(Math.max(lowest, highest), lowest, highest);
  }
  picked.add(count - 1, count - 1, count - 1);
  return picked;
}

const finiteOrNull = (value: number | null | undefined): number | null =>
  value !== null && value !== undefined && Number.isFinite(value) ? value : null;

/** Indexes of the least and greatest finite value in [begin, end); `begin` for both where there is none. */
function ends(
  { values }: Points,
  begin: number,
  end: number,
): { readonly lowest: number; readonly highest: number } {
  let lowest = begin;
  let highest = begin;
  let least = Number.POSITIVE_INFINITY;
  let greatest = Number.NEGATIVE_INFINITY;
  for (let index = begin; index < end; index++) {
    const value = values[index];
    if (value === null || value === undefined || !Number.isFinite(value)) continue;
    if (value < least) {
      least = value;
      lowest = index;
    }
    if (value > greatest) {
      greatest = value;
      highest = index;
    }
  }
  return { lowest, highest };
}

class Picked {
  readonly steps: number[] = [];
  readonly values: (number | null)[] = [];
  readonly low: (number | null)[] = [];
  readonly high: (number | null)[] = [];
  readonly #points: Points;

  constructor(points: Points) {
    this.#points = points;
  }

  /** The point at an index, and those that bound its bucket. */
  add(index: number, lowest: number, highest: number): void {
    const { steps, values } = this.#points;
    this.steps.push(steps[index] ?? 0);
    this.values.push(finiteOrNull(values[index]));
    this.low.push(finiteOrNull(values[lowest]));
    this.high.push(finiteOrNull(values[highest]));
  }
}
