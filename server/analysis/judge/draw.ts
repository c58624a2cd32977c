/** Which rollouts a person labels: as many that the judge passes as fails, over the whole range of its score. Pure. */
import type { Random } from "../../lib/random.ts";
import { shuffled } from "../../methods/tasks/countdownExpressions.ts";

/** Drawn where nothing else is said. */
export const usualCount = 20;

export interface Drawn {
  /** Of the candidates. */
  readonly at: number;
  /** How many candidates it represents, relative to the others drawn; 1 on average. */
  readonly weight: number;
}

/** From which score on a judge passes: 0.5 where all scores are in [0, 1], else halfway between the lowest and the highest. */
export function usualThreshold(scores: ArrayLike<number>): number {
  let [low, high] = [0, 1];
  for (let at = 0; at < scores.length; at++) {
    if (scores[at]! >= low && scores[at]! <= high) continue;
    [low, high] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
    for (let i = 0; i < scores.length; i++)
      [low, high] = [Math.min(low, scores[i]!), Math.max(high, scores[i]!)];
    break;
  }
  return (low + high) / 2;
}

/**
 * Half of the draw are candidates that the judge passes, half are others, as far as there are so many; each half is sorted by score, cut
 * into parts of equal size, and gives one of each part. A label weighs what its side's share of the candidates is to its share of the
 * draw. So a judge that passes one answer of a hundred is asked about ten of each kind, the weights say what that means for all, and they
 * cost at most half of the labels' worth. The order says nothing of the score.
 * @param scores of the candidates
 * @param known whether a candidate has a label: it counts as drawn, but is not returned
 */
export function drawForLabels(
  scores: ArrayLike<number>,
  count: number,
  random: Random,
  known: (at: number) => boolean = () => false,
): readonly Drawn[] {
  const threshold = usualThreshold(scores);
  const all = Array.from({ length: scores.length }, (_, at) => at);
  const sides = [all.filter((at) => scores[at]! >= threshold), all.filter((at) => scores[at]! < threshold)];
  const [pass, fail] = sides.map(({ length }) => length) as [number, number];
  const half = Math.ceil(count / 2);
  const passed = Math.min(pass, Math.max(half, count - fail));
  const quotas = [passed, Math.min(fail, count - passed)];
  const total = quotas[0]! + quotas[1]!;
  const drawn = sides.flatMap((members, side) => {
    const quota = quotas[side]!;
    const weight = (members.length / scores.length) * (total / quota);
    return spread(members, scores, quota, random.fork("side", side), known).map((at) => ({ at, weight }));
  });
  return shuffled(drawn, random.fork("order"));
}

/** One of each part of the sorted ones. Equal scores are in a random order, so that none comes for being early in the run. */
function spread(
  members: readonly number[],
  scores: ArrayLike<number>,
  quota: number,
  random: Random,
  known: (at: number) => boolean,
): readonly number[] {
  const open = members.filter((at) => !known(at));
  const wanted = Math.max(0, Math.min(open.length, quota - (members.length - open.length)));
  const sorted = shuffled(open, random.fork("ties")).sort((one, other) => scores[one]! - scores[other]!);
  return Array.from({ length: wanted }, (_, part) => {
    const from = Math.floor((part * sorted.length) / wanted);
    const to = Math.floor(((part + 1) * sorted.length) / wanted);
    return sorted[from + random.integer(to - from)]!;
  });
}
