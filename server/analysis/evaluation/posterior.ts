/** How likely one model is the better one, by what both answered: Beta posteriors. Pure. */
import { logGamma } from "../../lib/distributions.ts";
import type { EvaluatedTask } from "./types.ts";

export interface Posterior {
  /** Tasks whose greedy answers of both models were scored. */
  readonly tasks: number;
  /** P(own success rate > the other's), from uniform priors. */
  readonly better: number;
  /** It is at least 0.95, or at most 0.05: more tasks are not needed. */
  readonly enough: boolean;
}

/** Where a comparison may stop, as often as it is looked at. */
const sure = 0.95;

/**
 * Of the greedy answers, each a trial. Posteriors hold however often they are looked at, so `enough` may stop a comparison that goes on.
 * Source: "A Careful Examination of Large Behavior Models for Multitask Dexterous Manipulation".
 */
export function posterior(
  own: readonly EvaluatedTask[],
  other: readonly EvaluatedTask[],
): Posterior | undefined {
  const pairs = own.flatMap(({ greedy }, i) => {
    const second = other[i]?.greedy;
    return greedy === undefined || second === undefined ? [] : [{ own: greedy, other: second }];
  });
  if (pairs.length === 0) return undefined;
  const right = (of: "own" | "other"): number => pairs.filter((pair) => pair[of]).length;
  const better = probabilityAbove(
    { right: right("own"), wrong: pairs.length - right("own") },
    { right: right("other"), wrong: pairs.length - right("other") },
  );
  return { tasks: pairs.length, better, enough: better >= sure || better <= 1 - sure };
}

interface Trials {
  readonly right: number;
  readonly wrong: number;
}

const logBeta = (a: number, b: number): number => logGamma(a) + logGamma(b) - logGamma(a + b);

/** P(p > q) for p ~ Beta(1 + right, 1 + wrong) of the first and q of the second: a finite sum, since the first shape is whole. */
export function probabilityAbove(first: Trials, second: Trials): number {
  const [a, b] = [second.right + 1, second.wrong + 1];
  const beta = first.wrong + 1;
  let sum = 0;
  for (let i = 0; i <= first.right; i++)
    sum += Math.exp(logBeta(a + i, b + beta) - Math.log(beta + i) - logBeta(1 + i, beta) - logBeta(a, b));
  return Math.min(1, sum);
}
