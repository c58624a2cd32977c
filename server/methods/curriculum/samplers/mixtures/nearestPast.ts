/** The past run whose policy knew about as much as this one; of several, the one that reached most. */
import type { Knowledge, PastCurriculum } from "../../pastCurriculum.ts";

export interface Compared {
  readonly past: PastCurriculum;
  /** Root of the mean squared difference of the shares that were right, over the points that both measured. */
  readonly distance: number;
  /** Mean share that was right at those points when it was last measured. */
  readonly score: number;
}

const rates = ({ points, rates: known }: Knowledge): Map<string, number> =>
  new Map(
    points.flatMap((point, i): [string, number][] => {
      const rate = known[i];
      return rate === null || rate === undefined ? [] : [[point, rate]];
    }),
  );

/** The measurement that was made after about as many groups; of two equally far the earlier. */
function asLongAgo({ knowledge }: PastCurriculum, groups: number): Knowledge | undefined {
  return knowledge.reduce<Knowledge | undefined>(
    (best, one) =>
      best === undefined || Math.abs(one.groups - groups) < Math.abs(best.groups - groups) ? one : best,
    undefined,
  );
}

/** Undefined where the two share no point that was measured. */
function compared(now: Knowledge, past: PastCurriculum): Compared | undefined {
  const [own, then, last] = [now, asLongAgo(past, now.groups), past.knowledge.at(-1)].map((one) =>
    one === undefined ? new Map<string, number>() : rates(one),
  );
  const common = [...own!.keys()].filter((point) => then!.has(point) && last!.has(point));
  if (common.length === 0) return undefined;
  const squares = common.reduce((sum, point) => sum + (own!.get(point)! - then!.get(point)!) ** 2, 0);
  const score = common.reduce((sum, point) => sum + last!.get(point)!, 0) / common.length;
  return { past, distance: Math.sqrt(squares / common.length), score };
}

/**
 * The `k` nearest, nearest first, and of these the one that knew most in the end: the nearer of equal ones. Undefined
 * where no past run can be compared.
 */
export function nearestPast(
  now: Knowledge,
  pasts: readonly PastCurriculum[],
  k: number,
): { readonly chosen: Compared; readonly near: readonly Compared[] } | undefined {
  const near = pasts
    .flatMap((past) => compared(now, past) ?? [])
    .sort((a, b) => a.distance - b.distance)
    .slice(0, k);
  const [first, ...others] = near;
  if (first === undefined) return undefined;
  return { chosen: others.reduce((best, one) => (one.score > best.score ? one : best), first), near };
}
