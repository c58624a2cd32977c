/** Rollouts that a judge scored, and what their labels come to, as the panel that labels is sent them. */
import { judgeVersion, type ToJudge } from "../../shared/editor/judgePanel.ts";
import type { JudgeReport } from "../../shared/rollouts/judgeReport.ts";

const prompt = `You answer customers of a shop.\n${"Be brief, be polite, and never promise what you cannot keep. ".repeat(30)}\nCustomer: My parcel has not come.`;
const answers = [
  "I am sorry to hear that. May I have the number of your order, please? I will look for it at once.",
  "",
  "Not my problem, ask the post.",
  `${"Thank you so much for writing to us today. ".repeat(6)}<b>Unfortunately</b> I know nothing.`,
];
/** Four answers to be labelled. @param before labels that the file has already */
export const drawn = (before = 0): Extract<ToJudge, { type: "rollouts" }> => ({
  version: judgeVersion,
  type: "rollouts",
  state: { run: "tone-1", term: "polite", step: null },
  name: "tone",
  file: "tone.labels.jsonl",
  before,
  rollouts: answers.map((response, i) => ({ prompt, response, finish: i === 3 ? "length" : "stop" })),
});
const estimate = (value: number, low: number, high: number) => ({ value, low, high });
export const report: JudgeReport = {
  ...{ term: "polite", scores: "recorded", labels: 20, good: 10, skipped: 1, unscored: 0, reason: null },
  ...{ threshold: 0.5, effective: 20, chance: 0.5, wanted: 80, flips: null },
  agreement: estimate(0.75, 0.531, 0.888),
  kappa: estimate(0.5, 0.06, 0.78),
  passed: { labels: 9, good: estimate(0.778, 0.453, 0.937) },
  failed: { labels: 11, good: estimate(0.273, 0.097, 0.566) },
  auroc: estimate(0.79, 0.55, 0.91),
  length: estimate(0.47, 0.02, 0.76),
  disagreements: [
    { run: "tone-1", step: 41, group: "41/3", index: 2, score: 0.97, good: false },
    { run: "tone-1", step: 12, group: "12/0", index: 5, score: 0.1, good: true },
  ],
};
