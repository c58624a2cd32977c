/** What pixel columns show of a line in buckets: its lowest and highest value there. Pure. */
import type { Spread } from "./columns.ts";

interface PixelColumns {
  readonly x: readonly number[];
  readonly low: readonly number[];
  readonly high: readonly number[];
}

/**
 * @param begins first steps of the buckets, `steps` the last ones
 * @param xOf the pixel that a step lies at, rising with the steps
 */
export function pixelColumns(
  { begins, steps }: { readonly begins: readonly number[]; readonly steps: readonly number[] },
  spread: Spread,
  xOf: (step: number) => number,
  [left, right]: readonly [number, number],
): PixelColumns {
  const low = new Map<number, number>();
  const high = new Map<number, number>();
  steps.forEach((step, i) => {
    const [least, most] = [spread.low[i], spread.high[i]];
    if (least == null || most == null || Number.isNaN(least) || Number.isNaN(most)) return;
    const to = Math.min(right, Math.floor(xOf(step)));
    for (let x = Math.max(left, Math.floor(xOf(begins[i] ?? step))); x <= to; x++) {
      low.set(x, Math.min(low.get(x) ?? least, least));
      high.set(x, Math.max(high.get(x) ?? most, most));
    }
  });
  const x = [...low.keys()].sort((a, b) => a - b);
  return { x, low: x.map((at) => low.get(at)!), high: x.map((at) => high.get(at)!) };
}
