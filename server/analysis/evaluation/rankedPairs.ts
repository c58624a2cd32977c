/** Pairs of a success and a failure, and how often a value puts the success above. Pure. */

export interface RankedPairs {
  readonly pairs: number;
  /** Pairs whose success has the greater value. */
  readonly right: number;
  readonly tied: number;
}

/**
 * @param sorted values, ascending
 * @param successes how much each value counts as a success; `failures` as a failure
 */
export function rankedPairs(
  sorted: ArrayLike<number>,
  successes: ArrayLike<number>,
  failures: ArrayLike<number>,
): RankedPairs {
  let [all, below, right, tied] = [0, 0, 0, 0];
  for (let from = 0; from < sorted.length;) {
    let [won, lost, to] = [0, 0, from];
    for (; to < sorted.length && sorted[to] === sorted[from]; to++) {
      won += successes[to]!;
      lost += failures[to]!;
    }
    right += won * below;
    tied += won * lost;
    below += lost;
    all += won;
    from = to;
  }
  return { pairs: all * below, right, tied };
}

/** The share that is ranked right, ties half: the area under the ROC curve; null of no pairs. */
export const accuracyOf = ({ pairs, right, tied }: RankedPairs): number | null =>
  pairs === 0 ? null : (right + tied / 2) / pairs;
