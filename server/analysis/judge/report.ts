/** A judge's scores next to a person's labels of the same answers. Pure. */
import type { Disagreement, JudgeReport } from "../../../shared/rollouts/judgeReport.ts";
import type { LabelledRollout } from "../../../shared/rollouts/labels.ts";
import { usualThreshold } from "./draw.ts";
import {
  agreement,
  auroc,
  chanceAgreement,
  effective,
  kappa,
  labelsFor,
  lengthBias,
  passes,
  shareOf,
  type Judged,
} from "./statistics.ts";

/** What a judge gives an answer: a score, or why there is none. */
export type Scored = number | { readonly reason: string };

export interface Asked {
  /** One for each label. */
  readonly scores: readonly Scored[];
  /** The same answers asked again, in the reverse order. */
  readonly again?: readonly Scored[];
  readonly from: JudgeReport["scores"];
  /** Default: 0.5 where all scores are in [0, 1], else halfway between the lowest and the highest. */
  readonly threshold?: number | undefined;
}

/** Wanted where nothing else is: ± 10 points. */
const half = 0.1;
const mostDisagreements = 20;

interface Pair extends Judged {
  readonly of: LabelledRollout;
  readonly again: Scored | undefined;
}

/** @param labels of one term */
export function judgeReport(
  term: string,
  labels: readonly LabelledRollout[],
  { scores, again, from, threshold: wish }: Asked,
): JudgeReport {
  const decided = labels.flatMap((of, i) =>
    of.label.value === "skip" ? [] : [{ of, i, score: scores[i]! }],
  );
  const pairs = decided.flatMap(({ of, i, score }): Pair[] =>
    typeof score === "number" ? [{ ...judgedOf(of, score), of, again: again?.[i] }] : [],
  );
  const lost = decided.flatMap(({ score }) => (typeof score === "number" ? [] : [score.reason]));
  const threshold = wish ?? usualThreshold(pairs.map(({ score }) => score));
  const agreed = agreement(pairs, threshold);
  return {
    term,
    scores: from,
    labels: pairs.length,
    good: pairs.filter(({ good }) => good).length,
    skipped: labels.length - decided.length,
    unscored: lost.length,
    reason: lost[0] ?? null,
    threshold,
    effective: pairs.length === 0 ? null : effective(pairs),
    agreement: agreed,
    chance: pairs.length === 0 ? null : chanceAgreement(pairs, threshold),
    kappa: kappa(pairs, threshold),
    passed: goodAmong(pairs.filter((pair) => passes(pair, threshold))),
    failed: goodAmong(pairs.filter((pair) => !passes(pair, threshold))),
    auroc: new Set(pairs.map(({ score }) => score)).size > 2 ? auroc(pairs) : null,
    length: lengthBias(pairs),
    flips: flipsOf(pairs, threshold),
    wanted: wantedFor(agreed, pairs),
    disagreements: disagreements(pairs, threshold),
  };
}

const judgedOf = ({ row, label }: LabelledRollout, score: number): Judged => ({
  score,
  good: label.value === "good",
  weight: label.weight,
  length: [...(row.response ?? "")].length,
});

const goodAmong = (pairs: readonly Pair[]): JudgeReport["passed"] => ({
  labels: pairs.length,
  good: shareOf(pairs, ({ good }) => good),
});

/** Each answer counts once: how often a verdict depends on when and after what it is asked. */
function flipsOf(pairs: readonly Pair[], threshold: number): JudgeReport["flips"] {
  const twice = pairs.flatMap((pair) =>
    typeof pair.again === "number" ? [{ ...pair, weight: 1, second: pair.again }] : [],
  );
  return shareOf(
    twice,
    (pair) => passes(pair, threshold) !== passes({ ...pair, score: pair.second }, threshold),
  );
}

function wantedFor(agreed: JudgeReport["agreement"], pairs: readonly Pair[]): number | null {
  if (agreed === null || agreed.high - agreed.low <= 2 * half) return null;
  // At a share of 0 or 1 the formula asks for none: Wilson's centre is what the labels leave possible.
  const centre = (agreed.low + agreed.high) / 2;
  return Math.ceil(labelsFor(centre, half) * (pairs.length / effective(pairs)));
}

function disagreements(pairs: readonly Pair[], threshold: number): readonly Disagreement[] {
  return pairs
    .filter((pair) => passes(pair, threshold) !== pair.good)
    .toSorted((one, other) => Math.abs(other.score - threshold) - Math.abs(one.score - threshold))
    .slice(0, mostDisagreements)
    .map(({ of: { row }, score, good }) => ({
      run: row.run ?? null,
      step: row.step,
      group: String(row.group),
      index: row.index,
      score,
      good,
    }));
}
