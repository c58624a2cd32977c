/** How a result grows with a number of the config: f(X) = α·X^β, fitted over runs (Parallel Scaling Law). */
import type { Comparison } from "../../../shared/run/comparison.ts";
import type { Json } from "../../../shared/lib/json.ts";
import { UserError } from "../../../shared/lib/errors.ts";

interface PowerLaw {
  readonly alpha: number;
  readonly beta: number;
  /** Of the logarithms; null where all results are the same. */
  readonly r_squared: number | null;
}

interface Point {
  readonly x: number;
  readonly y: number;
}

/** Least squares of ln y = ln α + β·ln x over the points above 0; undefined below two different x. */
export function powerLaw(points: readonly Point[]): PowerLaw | undefined {
  const logs = points
    .filter(({ x, y }) => x > 0 && y > 0)
    .map(({ x, y }) => ({ x: Math.log(x), y: Math.log(y) }));
  const mean = (of: (one: Point) => number): number =>
    logs.reduce((sum, one) => sum + of(one), 0) / logs.length;
  const [middle, height] = [mean(({ x }) => x), mean(({ y }) => y)];
  const [spread, total] = [mean(({ x }) => (x - middle) ** 2), mean(({ y }) => (y - height) ** 2)];
  if (!(spread > 0)) return undefined;
  const beta = mean(({ x, y }) => (x - middle) * (y - height)) / spread;
  const rest = mean(({ x, y }) => (y - height - beta * (x - middle)) ** 2);
  return {
    alpha: Math.exp(height - beta * middle),
    beta,
    r_squared: total > 0 ? 1 - rest / total : null,
  };
}

export interface PowerLawReport {
  readonly path: string;
  readonly metric: string;
  /** A point a group of runs that differ in their seed only, by x. */
  readonly points: readonly Point[];
  /** null: fewer than two different x have a result above 0. */
  readonly fit: PowerLaw | null;
  /**
   * What the fit of the points beyond X = 1 says at 1, less the result there: the paper's monolingual generalisation gap; null where
   * it cannot be told.
   */
  readonly gap: number | null;
}

/** A number, or how many items a list has. */
const sizeOf = (value: Json | undefined): number | undefined =>
  typeof value === "number" ? value : Array.isArray(value) ? value.length : undefined;

/** @throws UserError where the runs do not differ in that key, or the metric has no values */
export function powerLawOf(
  { config, groups, series }: Pick<Comparison, "config" | "groups" | "series">,
  path: string,
  metric: string,
): PowerLawReport {
  const difference = config.find((one) => one.path === path);
  if (difference === undefined)
    throw new UserError(`The runs do not differ in ${path}.`, {
      code: "power-law",
      action: `Name a key with a number or a list in which they differ: ${config.map((one) => one.path).join(", ") || "there is none"}.`,
    });
  const found = series.find((one) => one.metric === metric);
  const points = groups
    .flatMap(({ runs }, group): Point[] => {
      const x = sizeOf(difference.values[runs[0]!]?.value);
      const y = found?.groups.find((one) => one.group === group)?.mean.findLast((value) => value !== null);
      return x === undefined || y === undefined || y === null ? [] : [{ x, y }];
    })
    .sort((one, other) => one.x - other.x);
  if (points.length === 0)
    throw new UserError(`No run has both a number or a list at ${path} and a value of ${metric}.`, {
      code: "power-law",
      action: "Name the metric with `--metric`, for example `--metric eval/pass@1`.",
    });
  const beyond = powerLaw(points.filter(({ x }) => x > 1));
  const first = points.filter(({ x }) => x === 1);
  const actual = first.reduce((sum, { y }) => sum + y, 0) / first.length;
  return {
    path,
    metric,
    points,
    fit: powerLaw(points) ?? null,
    gap: beyond === undefined || first.length === 0 ? null : beyond.alpha - actual,
  };
}
