/** Selectors that take one response: the one with the highest value, and of equals each has its share. */
import type { Choice, SampledAnswer } from "./answer.ts";

function highest(answers: readonly SampledAnswer[], valueOf: (one: SampledAnswer) => number): Choice {
  const most = Math.max(...answers.map(valueOf));
  const best = answers.filter((one) => valueOf(one) === most);
  return best.length === 0 ? { right: 0 } : { right: best.filter(({ right }) => right).length / best.length };
}

/** The response that the model finds likeliest, by its mean log-prob. */
export const mostLikely = (answers: readonly SampledAnswer[]): Choice => ({
  ...highest(answers, ({ mean_logp }) => mean_logp),
  confidence: Math.exp(Math.max(...answers.map(({ mean_logp }) => mean_logp))),
});

/** Best of n by a reward term; where the term judges by the model itself, it is self-judging. */
export const bestBy =
  (term: string) =>
  (answers: readonly SampledAnswer[]): Choice =>
    highest(answers, ({ terms }) => terms[term] ?? Number.NEGATIVE_INFINITY);
