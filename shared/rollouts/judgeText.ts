/** What labels say of a judge, in sentences: the same in a terminal and in the editor. */
import { plural } from "../lib/format.ts";
import type { Estimate, JudgeReport } from "./judgeReport.ts";

const percent = (value: number): string => `${Math.round(value * 100)} %`;
/** "75 % (53 to 89 %)". */
const shareText = ({ value, low, high }: Estimate): string =>
  `${percent(value)} (${Math.round(low * 100)} to ${percent(high)})`;
const rounded = (value: number): string =>
  value
    .toFixed(2)
    .replace(/^-(?=.*[1-9])/, "−")
    .replace(/^-/, "");
const estimateText = ({ value, low, high }: Estimate): string =>
  `${rounded(value)} (${rounded(low)} to ${rounded(high)})`;

export interface JudgeLine {
  readonly about: "agreement" | "passed" | "failed" | "order" | "length" | "position" | "labels";
  readonly text: string;
}

/** The first sentence: what to make of it. */
export function judgeHeadline(report: JudgeReport): string {
  const { term, labels, agreement, chance, kappa } = report;
  if (agreement === null || chance === null)
    return `No label can be compared with a score of \`${term}\` yet.`;
  const head = `${plural(labels, "label")}: \`${term}\` agrees with ${shareText(agreement)} of them`;
  if (kappa === null) return `${head}; ${oneClass(report)}.`;
  if (kappa.low > 0) return `${head}, better than a coin that passes as many (${percent(chance)}).`;
  if (kappa.high < 0) return `${head}, worse than a coin that passes as many (${percent(chance)}).`;
  return `${head}; these labels do not distinguish it from a coin that passes as many (${percent(chance)}).`;
}

const oneClass = ({ good }: JudgeReport): string =>
  `all are ${good === 0 ? "bad" : "good"}, so they do not show whether it tells good from bad`;

/** The other sentences. The interval of every number is one of 95 %. */
export function judgeLines(report: JudgeReport): readonly JudgeLine[] {
  const { agreement, kappa, auroc, threshold, passed, failed, wanted } = report;
  if (agreement === null) return labelLines(report);
  return [
    ...(kappa === null
      ? []
      : [{ about: "agreement", text: `Cohen's κ ${estimateText(kappa)}; 0 is a coin.` } as const]),
    {
      about: "passed",
      text: sideText(
        "passes",
        passed,
        `scores from ${String(Number(threshold.toPrecision(4))).replace("-", "−")}`,
        "good",
      ),
    },
    { about: "failed", text: sideText("fails", failed, "scores below", "good after all") },
    ...(auroc === null
      ? []
      : [
          {
            about: "order",
            text: `A good answer scores higher than a bad one in ${shareText(auroc)} of pairs (AUROC); 50 % is a coin.`,
          } as const,
        ]),
    { about: "length", text: lengthText(report) },
    { about: "position", text: positionText(report) },
    ...(wanted === null
      ? []
      : [{ about: "labels", text: `To know the agreement to ± 10 points, label about ${wanted}.` } as const]),
    ...labelLines(report),
  ];
}

const sideText = (
  verb: string,
  { labels, good }: JudgeReport["passed"],
  which: string,
  said: string,
): string =>
  good === null
    ? `It ${verb} none of the labelled answers (${which}).`
    : `Of the ${labels} that it ${verb} (${which}), ${shareText(good)} are ${said}.`;

function lengthText({ length, labels }: JudgeReport): string {
  if (length === null)
    return labels < 6
      ? "Length: too few labels to say."
      : "Length: no sign of a bias, for at the same label scores or lengths do not differ.";
  const size = `correlation ${estimateText(length)}`;
  if (length.low > 0) return `Length: longer answers score more than their label explains, ${size}.`;
  if (length.high < 0) return `Length: longer answers score less than their label explains, ${size}.`;
  return `Length: these labels do not show whether longer answers score more than their label explains, ${size}.`;
}

function positionText({ flips, scores }: JudgeReport): string {
  if (flips !== null) {
    const asked = "Asked again in the reverse order, it";
    return flips.value === 0
      ? `Position: ${asked.toLowerCase()} changes no verdict (at most ${percent(flips.high)} of them).`
      : `Position: ${asked.toLowerCase()} changes ${shareText(flips)} of its verdicts.`;
  }
  return scores === "recorded"
    ? "Position: not measured, for the scores are those recorded with the rollouts. Ask the judge again to measure it."
    : "Position: not measured.";
}

function labelLines({ skipped, unscored, reason, labels, effective }: JudgeReport): readonly JudgeLine[] {
  const lines = [
    ...(effective !== null && effective < labels * 0.95
      ? [
          `Passes and fails were drawn alike; weighted back to all rollouts, the labels say as much as ${Math.round(effective)} drawn at random.`,
        ]
      : []),
    ...(skipped === 0 ? [] : [`${plural(skipped, "rollout")} skipped.`]),
    ...(unscored === 0
      ? []
      : [`${plural(unscored, "labelled rollout")} without a score${reason === null ? "" : `: ${reason}`}.`]),
  ];
  return lines.map((text) => ({ about: "labels", text }));
}
