/** What runs along a chart: steps, or what has been spent by a step. Pure. */
import { formatCount } from "../../shared/lib/format.ts";

export interface XAxis {
  /** As it is written below a chart. */
  readonly name: string;
  /** Where a step lies: rises with the steps. */
  readonly of: (step: number) => number;
  /** The step that lies somewhere. */
  readonly at: (x: number) => number;
  readonly format: (x: number) => string;
  /** Labels are no closer than this: there is no step between two steps. */
  readonly least?: number;
}

export const bySteps: XAxis = {
  name: "step",
  of: (step) => step,
  at: (x) => x,
  format: formatCount,
  least: 1,
};

/** Distances between labels that read well. */
const spacings = [1, 2, 5, 10];

/** At most `most` round places from `low` to `high`. @param least their distance at the least */
export function ticksOf(low: number, high: number, most: number, least = 0): readonly number[] {
  const rough = Math.max(least, (high - low) / Math.max(1, most));
  if (!(rough > 0)) return [low];
  const power = 10 ** Math.floor(Math.log10(rough));
  const spacing = (spacings.find((one) => one * power >= rough) ?? 10) * power;
  const ticks: number[] = [];
  for (let i = Math.ceil(low / spacing - 1e-9); i * spacing <= high * (1 + 1e-12); i++)
    ticks.push(i * spacing + 0);
  return ticks;
}
