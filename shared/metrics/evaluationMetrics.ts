/** What held-out tasks tell: the part of the list of metrics that evaluations report. */
import { fraction, metric, type Metric } from "./metric.ts";

export const evaluationMetrics: readonly Metric[] = [
  fraction("eval/pass@k", "Unbiased pass@k on held-out tasks.", {
    better: "higher",
    aliases: { verl: ["val-core/*/best@k/mean"] },
  }),
  fraction("eval/greedy", "Success of the greedy answer on held-out tasks.", { better: "higher" }),
  metric("eval/reward/total", "Mean combined reward of the greedy answers to held-out tasks.", {
    better: "higher",
  }),
  metric(
    "eval/reward/<term>",
    "Mean of one reward term over the greedy answers to held-out tasks, before its weight, where it applies.",
    { better: "higher" },
  ),
  fraction(
    "eval/attempt_<n>/pass@1",
    "Share of the answers to held-out tasks that are right after this many attempts, where `rollout.shape` has several.",
    { better: "higher" },
  ),
  fraction(
    "eval/attempt_<n>/greedy",
    "Success of the greedy answer on held-out tasks after this many attempts.",
    { better: "higher" },
  ),
  fraction(
    "eval/attempts/mended",
    "Answers to held-out tasks whose first attempt is wrong and whose last is right.",
    { better: "higher" },
  ),
  fraction(
    "eval/attempts/spoiled",
    "Answers to held-out tasks whose first attempt is right and whose last is wrong.",
    { better: "lower" },
  ),
  metric(
    "eval/attempts/gain",
    "Success after the last attempt minus success after the first: answers corrected minus answers spoiled.",
    { unit: "fraction", better: "higher", range: [-1, 1] },
  ),
  fraction(
    "eval/<arm>/pass@k",
    "pass@k of one arm's held-out tasks; at the end of a stage also of one stage's tasks (`evaluation.matrix`).",
    { better: "higher" },
  ),
  fraction("eval/<arm>/greedy", "Success of the greedy answer on one arm's held-out tasks.", {
    better: "higher",
  }),
];
