/** What is made of the scores of a response's steps, so that repeating good steps earns nothing. */

export const transforms = ["clip", "delta", "last", "thoughts"] as const;
export type Transform = (typeof transforms)[number];

interface Options {
  readonly eta: number;
  /** Whether the last step is the answer, which outcome rewards alone score. */
  readonly answer_step: boolean;
}

/** r_k = min(PRM_k − η, 0). */
const clipped = (scores: readonly number[], { eta }: Options): number[] =>
  scores.map((score) => Math.min(score - eta, 0));

/** r_k = PRM_k − PRM_{k+1}; the last scored step keeps its own, so that the return from step k is PRM_k. */
function delta(scores: readonly number[], { answer_step: answers }: Options): number[] {
  const scored = answers && scores.length > 1 ? scores.slice(0, -1) : scores;
  // With an answer step, PRM_k + … telescopes over the scored steps; the step of the answer gets nothing.
  const own = scored.map((score, k) => score - (scored[k + 1] ?? 0));
  return scored.length === scores.length ? own : [...own, 0];
}

/** Only the last step's score. */
const last = (scores: readonly number[]): number[] =>
  scores.map((score, k) => (k === scores.length - 1 ? score : 0));

/** Steps in a row on the same side of η are one thought: its mean stands at its last step, the others have nothing. */
function thoughts(scores: readonly number[], { eta }: Options): number[] {
  const values = new Array<number>(scores.length).fill(0);
  let [sum, count] = [0, 0];
  scores.forEach((score, k) => {
    sum += score;
    count += 1;
    const next = scores[k + 1];
    if (next !== undefined && next >= eta === score >= eta) return;
    values[k] = sum / count;
    [sum, count] = [0, 0];
  });
  return values;
}

const made: Readonly<Record<Transform, (scores: readonly number[], options: Options) => number[]>> = {
  clip: clipped,
  delta,
  last,
  thoughts,
};

/** One after the other. */
export const transformed = (
  scores: readonly number[],
  steps: readonly Transform[],
  options: Options,
): readonly number[] => steps.reduce((values, step) => made[step](values, options), scores);
