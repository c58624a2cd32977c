/** The least value of a smooth function of a few variables between bounds: a projected quasi-Newton method (BFGS). */

import { dot } from "./algebra/linear.ts";

export interface Slope {
  readonly value: number;
  readonly gradient: readonly number[];
}

/** L-BFGS-B's own in SciPy: relative change of the value, and the largest projected slope. */
const [valueTolerance, slopeTolerance] = [2.22e-9, 1e-5];
const mostSteps = 500;
/** Share of the expected fall that a step must reach (Armijo). */
const enough = 1e-4;

type Bounds = readonly (readonly [low: number, high: number])[];

/** @returns a local minimum near the start; values that are not finite are stepped back from */
export function minimized(
  of: (at: readonly number[]) => Slope,
  start: readonly number[],
  bounds: Bounds,
): readonly number[] {
  const within = (at: readonly number[]): number[] =>
    at.map((value, i) => Math.min(bounds[i]![1], Math.max(bounds[i]![0], value)));
  let at = within(start);
  let here = of(at);
  let inverse = identity(at.length);
  for (let step = 0; step < mostSteps; step++) {
    const free = at.map((value, i) => !isHeld(value, here.gradient[i]!, bounds[i]!));
    const slope = here.gradient.map((one, i) => (free[i] === true ? one : 0));
    if (Math.max(...slope.map(Math.abs)) < slopeTolerance) break;
    let direction = times(inverse, slope).map((one, i) => (free[i] === true ? -one : 0));
    if (dot(direction, slope) >= 0) {
      inverse = identity(at.length);
      direction = slope.map((one) => -one);
    }
    const next = stepped(of, { at, here, direction, within });
    if (next === undefined) break;
    const fall =
      (here.value - next.here.value) / Math.max(Math.abs(here.value), Math.abs(next.here.value), 1);
    inverse = updated(
      inverse,
      next.at.map((value, i) => value - at[i]!),
      next.here.gradient.map((value, i) => value - here.gradient[i]!),
    );
    [at, here] = [next.at, next.here];
    if (fall <= valueTolerance) break;
  }
  return at;
}

/** At a bound that the slope points out of. */
const isHeld = (value: number, slope: number, [low, high]: readonly [number, number]): boolean =>
  (value <= low && slope > 0) || (value >= high && slope < 0);

interface Line {
  readonly at: number[];
  readonly here: Slope;
  readonly direction: readonly number[];
  readonly within: (at: readonly number[]) => number[];
}

/** Back along the direction until the value has fallen by enough. @returns undefined: it does not fall */
function stepped(
  of: (at: readonly number[]) => Slope,
  { at, here, direction, within }: Line,
): { readonly at: number[]; readonly here: Slope } | undefined {
  const length = Math.sqrt(dot(direction, direction));
  for (let size = Math.min(1, 1 / length); size * length > 1e-14; size /= 2) {
    const next = within(at.map((value, i) => value + size * direction[i]!));
    const found = of(next);
    const fall = here.gradient.reduce((sum, one, i) => sum + one * (next[i]! - at[i]!), 0);
    if (Number.isFinite(found.value) && found.value <= here.value + enough * fall)
      return { at: next, here: found };
  }
  return undefined;
}

type Matrix = readonly (readonly number[])[];
const identity = (size: number): Matrix =>
  Array.from({ length: size }, (_, i) => Array.from({ length: size }, (_, j) => Number(i === j)));
const times = (matrix: Matrix, vector: readonly number[]): number[] => matrix.map((row) => dot(row, vector));

/** The inverse Hessian after a step s with the change y of the gradient: (I − sy'/y's) H (I − ys'/y's) + ss'/y's. */
function updated(inverse: Matrix, s: readonly number[], y: readonly number[]): Matrix {
  const curvature = dot(s, y);
  if (curvature <= 1e-12) return inverse;
  const hy = times(inverse, y);
  const factor = (1 + dot(y, hy) / curvature) / curvature;
  return inverse.map((row, i) =>
    row.map((value, j) => value + factor * s[i]! * s[j]! - (hy[i]! * s[j]! + s[i]! * hy[j]!) / curvature),
  );
}
