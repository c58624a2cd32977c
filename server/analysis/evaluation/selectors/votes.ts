/** Selectors that let answers vote: the answer with the most weight wins, and of equals each has its share. */
import { weibullMixture } from "./weibullMixture.ts";
import type { Choice, SampledAnswer } from "./answer.ts";

/** Sums that differ by less are equal. */
const tie = 1e-12;

/** @param weightOf of each answer, not negative; those without an answer are not asked */
function weighed(
  answers: readonly SampledAnswer[],
  total: number,
  weightOf: (one: SampledAnswer, index: number) => number,
): Choice {
  const weights = new Map<string, { weight: number; right: boolean }>();
  answers.forEach((one, index) => {
    if (one.answer === null) return;
    const known = weights.get(one.answer) ?? { weight: 0, right: one.right };
    weights.set(one.answer, known);
    known.weight += weightOf(one, index);
  });
  const most = Math.max(0, ...[...weights.values()].map(({ weight }) => weight));
  if (most === 0) return { right: 0, confidence: 0 };
  const best = [...weights.values()].filter(({ weight }) => weight >= most - tie);
  return { right: best.filter(({ right }) => right).length / best.length, confidence: most / total };
}

/** Self-consistency: an answer's weight is how many responses give it. Source: Wang et al., "Self-Consistency …". */
export const majority = (answers: readonly SampledAnswer[]): Choice =>
  weighed(answers, answers.length, () => 1);

/** Each path once, however often it was drawn. */
const firstOf = (answers: readonly SampledAnswer[]): readonly boolean[] => {
  const seen = new Set<string>();
  return answers.map(({ response }) => seen.size !== seen.add(response).size);
};

const probability = ({ mean_logp }: SampledAnswer): number => Math.exp(mean_logp);

/**
 * Perplexity consistency: an answer's weight is the sum of the probabilities of its distinct paths, each by its mean log-prob, as
 * the released code of RPC has it.
 */
export function pathProbability(answers: readonly SampledAnswer[]): Choice {
  return summed(answers, () => true);
}

/**
 * RPC: perplexity consistency without the paths that a mixture of two Weibull distributions puts into its lower part, where they
 * are below the mean as well. Source: "A Theoretical Study on Bridging Internal Probability and Self-Consistency for LLM Reasoning"
 * and its released code.
 */
export function rpc(answers: readonly SampledAnswer[]): Choice {
  const values = answers.map(probability);
  const mean = values.reduce((sum, one) => sum + one, 0) / values.length;
  const mixture = weibullMixture(values);
  return summed(answers, (one) => {
    const value = probability(one);
    return value >= mean || mixture.upper(value) >= 0.5;
  });
}

function summed(answers: readonly SampledAnswer[], keeps: (one: SampledAnswer) => boolean): Choice {
  const first = firstOf(answers);
  const weights = answers.map((one, i) => (first[i] === true && keeps(one) ? probability(one) : 0));
  const total = weights.reduce((sum, one, i) => (answers[i]!.answer === null ? sum : sum + one), 0);
  return weighed(answers, total, (_, i) => weights[i]!);
}
