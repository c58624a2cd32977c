/** Sums to go: what a unit and all later ones of its row come to. */
import type { Units } from "../../core/slots/advantage.ts";
import { gapAfter } from "./units.ts";

/**
 * G_u = v_u + γ G_{u+1}, per row from its last unit. Untrained tokens between two token units are passed over, or
 * count as steps of the discount.
 */
export function returnsToGo(
  values: Float64Array,
  units: Units,
  gamma: number,
  observations: "skip" | "discount",
): Float64Array {
  if (units.level === "response") return values;
  const result = new Float64Array(values.length);
  const counting = observations === "discount" && units.level === "token" && gamma !== 1;
  for (let row = 0; row + 1 < units.offsets.length; row++) {
    const [from, to] = [units.offsets[row]!, units.offsets[row + 1]!];
    let sum = 0;
    for (let unit = to - 1; unit >= from; unit--) {
      const gap = counting && unit < to - 1 ? gapAfter(units, unit) : 0;
      sum = values[unit]! + (gap === 0 ? gamma : gamma ** (1 + gap)) * sum;
      result[unit] = sum;
    }
  }
  return result;
}
