/** Reducing a series to what a chart can show, without losing a spike. */

export interface Points {
  readonly steps: readonly number[];
  /** null where the value is not finite. */
  readonly values: readonly (number | null)[];
}
export interface Reduced extends Points {
  readonly low?: readonly (number | null)[];
  readonly high?: readonly (number | null)[];
}

/**
 * At most `maximum` of the points, all of them true ones: of each bucket its lowest and its highest in the order they
 * came, with the bucket's extremes beside each; the first and the last point always. The same points give the same
 * picture every time.
 */
export function reduce(points: Points, maximum: number): Reduced {
  const count = points.steps.length;
  if (count <= maximum) return points;
  if (maximum < 4)
    return picked(points, [...new Set([0, count - 1])].slice(-maximum), () => extremes(points, 0, count));
  const buckets = Math.floor((maximum - 2) / 2);
  const chosen: number[] = [0];
  const bounds = new Map<number, readonly [number | null, number | null]>();
  for (let bucket = 0; bucket < buckets; bucket++) {
    const begin = 1 + Math.floor((bucket * (count - 2)) / buckets);
    const end = 1 + Math.floor(((bucket + 1) * (count - 2)) / buckets);
    const { lowest, highest } = ends(points, begin, end);
    const pair = lowest === highest ? [lowest] : lowest < highest ? [lowest, highest] : [highest, lowest];
    for (const index of pair)
      bounds.set(index, [points.values[lowest] ?? null, points.values[highest] ?? null]);
    chosen.push(...pair);
  }
  chosen.push(count - 1);
  return picked(
    points,
    chosen,
    (index) => bounds.get(index) ?? [points.values[index] ?? null, points.values[index] ?? null],
  );
}

/** Indexes of the least and greatest finite value in [begin, end); `begin` for both where there is none. */
function ends(
  points: Points,
  begin: number,
  end: number,
): { readonly lowest: number; readonly highest: number } {
  let lowest = -1;
  let highest = -1;
  for (let index = begin; index < end; index++) {
    const value = points.values[index];
    if (value === null || value === undefined) continue;
    if (lowest === -1 || value < (points.values[lowest] ?? 0)) lowest = index;
    if (highest === -1 || value > (points.values[highest] ?? 0)) highest = index;
  }
  return lowest === -1 ? { lowest: begin, highest: begin } : { lowest, highest };
}

function extremes(points: Points, begin: number, end: number): readonly [number | null, number | null] {
  const { lowest, highest } = ends(points, begin, end);
  return [points.values[lowest] ?? null, points.values[highest] ?? null];
}

function picked(
  points: Points,
  indexes: readonly number[],
  bounds: (index: number) => readonly [number | null, number | null],
): Reduced {
  const pairs = indexes.map(bounds);
  return {
    steps: indexes.map((index) => points.steps[index] ?? 0),
    values: indexes.map((index) => points.values[index] ?? null),
    low: pairs.map(([low]) => low),
    high: pairs.map(([, high]) => high),
  };
}
