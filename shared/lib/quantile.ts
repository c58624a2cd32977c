/** Linear between the two nearest order statistics. @param sorted ascending, at least one value @param at in [0, 1] */
export function quantile(sorted: ArrayLike<number>, at: number): number {
  const place = at * (sorted.length - 1);
  const [below, above] = [sorted[Math.floor(place)]!, sorted[Math.ceil(place)]!];
  return below + (above - below) * (place - Math.floor(place));
}
