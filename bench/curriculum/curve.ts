/** Readings of a learning curve. */
import type { Point, Result } from "./result.ts";
import { mean } from "../../shared/lib/mean.ts";

/** Mean held-out success over some arms; without names over all. */
export const scoreAt = ({ arms }: Point, names: readonly string[] = Object.keys(arms)): number =>
  mean(names.map((name) => arms[name] ?? Number.NaN));

/** Mean over the last three evaluations: one alone is noisy. */
export const finalScore = ({ points }: Result, names?: readonly string[]): number =>
  mean(points.slice(-3).map((point) => scoreAt(point, names)));

/** The rising curve nearest to the values in squares: neighbours that fall are pooled. */
export function isotonic(values: readonly number[]): number[] {
  const pools: { sum: number; count: number }[] = [];
  for (const value of values) {
    pools.push({ sum: value, count: 1 });
    for (;;) {
      const [before, last] = pools.slice(-2);
      if (before === undefined || last === undefined) break;
      if (before.sum / before.count <= last.sum / last.count) break;
      pools.splice(-2, 2, { sum: before.sum + last.sum, count: before.count + last.count });
    }
  }
  return pools.flatMap(({ sum, count }) => new Array<number>(count).fill(sum / count));
}

/** What has been spent when a rising curve reaches a level: between points by a straight line. */
export function spentAt(level: number, spent: readonly number[], scores: readonly number[]): number {
  const at = scores.findIndex((score) => score >= level);
  if (at <= 0) return spent[at === 0 ? 0 : spent.length - 1]!;
  const share = (level - scores[at - 1]!) / (scores[at]! - scores[at - 1]!);
  return spent[at - 1]! + share * (spent[at]! - spent[at - 1]!);
}

/** How much of what there was to learn counts as the same accuracy: at the very end curves are flat, and noise decides. */
const reached = 0.95;

/**
 * ln of what one run spent over what the other spent, until the same accuracy: 95 % of the way from the start to the
 * lower of both ends, on curves made to rise. Neither is ever censored. Spent counts from the first interval on.
 */
export function logSpentRatio(
  own: Result,
  other: Result,
  spend: (point: Point) => number,
  names?: readonly string[],
): number {
  const curves = [own, other].map(({ points }) => ({
    spent: points.map(spend),
    scores: isotonic(points.map((point) => scoreAt(point, names))),
  }));
  const start = Math.max(...curves.map(({ scores }) => scores[0]!));
  const end = Math.min(...curves.map(({ scores }) => scores.at(-1)!));
  const level = start + reached * (end - start);
  const [ours, theirs] = curves.map(({ spent, scores }) =>
    Math.max(spentAt(level, spent, scores), spent[1]!),
  );
  return Math.log(ours! / theirs!);
}

/** Mean held-out pass@k over some arms at the last point; NaN: it was not asked. */
export const finalPass = ({ points }: Result, k: number, names: readonly string[]): number =>
  mean(names.map((name) => points.at(-1)!.pass?.[name]?.[String(k)] ?? Number.NaN));

/** Mean entropy over the updates between the last two points; NaN: it is unknown. */
export const finalEntropy = ({ points }: Result): number => points.at(-1)!.entropy ?? Number.NaN;
