/** What held-out tasks tell: the part of the list of metrics that evaluations report. */
import type { Metric } from "./metric.ts";

export const evaluationMetrics: readonly Metric[] = [
  {
    name: "eval/pass@k",
    unit: "fraction",
    better: "higher",
    range: [0, 1],
    summary: "Unbiased pass@k on held-out tasks.",
    aliases: { verl: ["val-core/*/best@k/mean"] },
  },
  {
    name: "eval/greedy",
    unit: "fraction",
    better: "higher",
    range: [0, 1],
    summary: "Success of the greedy answer on held-out tasks.",
  },
  {
    name: "eval/reward/total",
    unit: "",
    better: "higher",
    summary: "Mean combined reward of the greedy answers to held-out tasks.",
  },
  {
    name: "eval/reward/<term>",
    unit: "",
    better: "higher",
    summary:
      "Mean of one reward term over the greedy answers to held-out tasks, before its weight, where it applies.",
  },
  {
    name: "eval/attempt_<n>/pass@1",
    unit: "fraction",
    better: "higher",
    range: [0, 1],
    summary:
      "Share of the answers to held-out tasks that are right after this many attempts, where `rollout.shape` has several.",
  },
  {
    name: "eval/attempt_<n>/greedy",
    unit: "fraction",
    better: "higher",
    range: [0, 1],
    summary: "Success of the greedy answer on held-out tasks after this many attempts.",
  },
  {
    name: "eval/attempts/mended",
    unit: "fraction",
    better: "higher",
    range: [0, 1],
    summary: "Answers to held-out tasks whose first attempt is wrong and whose last is right.",
  },
  {
    name: "eval/attempts/spoiled",
    unit: "fraction",
    better: "lower",
    range: [0, 1],
    summary: "Answers to held-out tasks whose first attempt is right and whose last is wrong.",
  },
  {
    name: "eval/attempts/gain",
    unit: "fraction",
    better: "higher",
    range: [-1, 1],
    summary:
      "Success after the last attempt minus success after the first: answers corrected minus answers spoiled.",
  },
  {
    name: "eval/<arm>/pass@k",
    unit: "fraction",
    better: "higher",
    range: [0, 1],
    summary:
      "pass@k of one arm's held-out tasks; at the end of a stage also of one stage's tasks (`evaluation.matrix`).",
  },
  {
    name: "eval/<arm>/greedy",
    unit: "fraction",
    better: "higher",
    range: [0, 1],
    summary: "Success of the greedy answer on one arm's held-out tasks.",
  },
];
