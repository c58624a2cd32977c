/** Sums to go: what a unit and all later ones of its row come to, under one discount or several. */
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

export interface Discount {
  /** Of the chain: what returns to go are discounted by later. */
  readonly gamma: number;
  readonly observations: "skip" | "discount";
}

/**
 * Of a source with a discount of its own, rewards whose returns to go under the chain's discount are the source's returns
 * under its own: v'_u = G_u − γ G_{u+1}, with G_u = v_u + γ_own G_{u+1}. In place, of the units of one row.
 * @param values from `base` on
 */
export function underOwnDiscount(
  values: Float64Array,
  base: number,
  units: Units,
  row: number,
  own: number,
  { gamma, observations }: Discount,
): void {
  const [from, to] = [units.offsets[row]!, units.offsets[row + 1]!];
  const counting = observations === "discount" && units.level === "token";
  let later = 0;
  for (let unit = to - 1; unit >= from; unit--) {
    const steps = 1 + (counting && unit < to - 1 ? gapAfter(units, unit) : 0);
    const whole = values[unit - base]! + own ** steps * later;
    values[unit - base] = whole - gamma ** steps * later;
    later = whole;
  }
}
