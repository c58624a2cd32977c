/** Leaving advantages out: outliers, one sign, all but the best. */
import type { AdvantageFilter } from "../../core/blocks/advantage.ts";
import { deviation, mean } from "./spread.ts";
import type { Units } from "../../core/slots/advantage.ts";

const keeps = {
  positive: (value: number): boolean => value > 0,
  negative: (value: number): boolean => value < 0,
  nonzero: (value: number): boolean => value !== 0,
};

export function filtered(values: Float64Array, units: Units, filter: AdvantageFilter): Float64Array {
  if (filter === "none") return values;
  const { sigma, beyond, keep, above, top } = filter;
  const known = [...values.keys()].filter((unit) => !Number.isNaN(values[unit]!));
  if (known.length === 0) return values;
  const middle = sigma === undefined ? 0 : mean(values, known);
  const reach = sigma === undefined ? Infinity : sigma * deviation(values, known, false);
  const best = top === undefined ? undefined : highest(values, units, top);
  return values.map((value, unit) => {
    if (Number.isNaN(value)) return value;
    if (keep !== undefined && !keeps[keep](value)) return Number.NaN;
    if (above !== undefined && !(value > above)) return Number.NaN;
    if (best !== undefined && !best(units.row[unit]!)) return Number.NaN;
    return Math.abs(value - middle) > reach || Math.abs(value) > (beyond ?? Infinity) ? 0 : value;
  });
}

/** Whether a row's mean advantage is in the highest share of the rows; equals of the last one are. */
function highest(values: Float64Array, { offsets }: Units, share: number): (row: number) => boolean {
  const means = Array.from({ length: offsets.length - 1 }, (_, row) => {
    const own = values.subarray(offsets[row]!, offsets[row + 1]!).filter((value) => !Number.isNaN(value));
    return own.reduce((sum, value) => sum + value, 0) / own.length;
  });
  const ranked = means.filter((value) => !Number.isNaN(value)).sort((a, b) => b - a);
  const least = ranked[Math.ceil(share * ranked.length) - 1] ?? Number.NaN;
  return (row) => means[row]! >= least;
}
