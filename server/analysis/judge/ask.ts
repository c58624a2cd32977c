/** Asks a judge about labelled answers: as they are in the file, then again in the reverse order. */
import type { LabelledRollout } from "../../../shared/rollouts/labels.ts";
import { scoreOf } from "../../../shared/rollouts/labels.ts";
import { groupKey, recordOf } from "../recorded.ts";
import type { AnswerScorer } from "../rewardChecks/answers.ts";
import type { Asked, Scored } from "./report.ts";

/**
 * A judge that compares the answers of a call, or that a server answers differently each time, gives the reverse order other scores.
 * @param scorer of the config whose term it is; prepared
 */
export async function askJudge(
  scorer: AnswerScorer,
  term: string,
  labels: readonly LabelledRollout[],
): Promise<Asked> {
  const scores = await scoresOf(scorer, term, labels);
  if (scores.every((score) => typeof score !== "number")) return { scores, from: "asked" };
  const again = (await scoresOf(scorer, term, labels.toReversed())).toReversed();
  return { scores, again, from: "asked" };
}

async function scoresOf(
  scorer: AnswerScorer,
  term: string,
  labels: readonly LabelledRollout[],
): Promise<readonly Scored[]> {
  const answers = labels.map(({ row }) => ({
    task: recordOf(row, scorer.body.tasks).task,
    response: row.response ?? "",
    group: groupKey(row),
    ...(row.finish !== undefined && { finish: row.finish }),
  }));
  const scored = await scorer.score(answers);
  const skipped = scorer.skipped.find((one) => one.term === term);
  return scored.map(
    ({ terms, errors }) =>
      terms[term] ?? { reason: errors[term] ?? skipped?.reason ?? "the term does not apply" },
  );
}

/** What the judge gave when the rollouts were recorded. */
export const recordedScores = (labels: readonly LabelledRollout[]): Asked => ({
  scores: labels.map(
    ({ row, label }) =>
      label.score ?? scoreOf(row, label.term) ?? { reason: "no score was recorded with the rollout" },
  ),
  from: "recorded",
});
