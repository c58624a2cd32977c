/** Arms that are points of a box. */
import type { Knob } from "../../core/slots/tasks.ts";
import type { ArmSet } from "../../core/slots/arms.ts";

/** An arm's point with every dimension of the box scaled to [0, 1]; undefined: arms are not points. */
export function unitPoint(arms: ArmSet, arm: number): readonly number[] | undefined {
  const point = arms.point?.(arm);
  return arms.box === undefined || point === undefined ? undefined : toUnit(arms.box, point);
}

const toUnit = (box: readonly Knob[], point: readonly number[]): number[] =>
  box.map(({ low, high }, i) => (high > low ? (point[i]! - low) / (high - low) : 0));

export const fromUnit = (box: readonly Knob[], unit: readonly number[]): number[] =>
  box.map(({ low, high }, i) => low + Math.min(1, Math.max(0, unit[i]!)) * (high - low));

/** The index of the nearest point, the first of equally near ones; −1: there are no points. */
export function nearestOf(points: readonly (readonly number[])[], to: readonly number[]): number {
  let [found, best] = [-1, Number.POSITIVE_INFINITY];
  for (const [i, point] of points.entries()) {
    let distance = 0;
    for (let d = 0; d < to.length; d++) distance += (point[d]! - to[d]!) ** 2;
    if (distance < best) [found, best] = [i, distance];
  }
  return found;
}
