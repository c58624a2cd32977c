/** What explains a verdict in at most three sentences, and what speaks against it. */
import { formatFraction, formatNumber, plural } from "../../../../shared/lib/format.ts";
import { leastCurve } from "../heldOut.ts";
import type { VerdictView } from "../view.ts";
import { isCutOff } from "./collapse.ts";
import { narrower } from "./label.ts";
import { heldOutText, intervalText, measureName, movedText, sentence, sourcesText } from "./numbers.ts";

const most = 3;

export const detailsOf = (view: VerdictView): readonly string[] =>
  [heldOutDetail(view), movedText(view), ...reasons(view)].filter((one) => one !== null).slice(0, most);

/** States whose headline says pass@1, and of those the ones that say its interval. */
const [saysPass, saysInterval] = [new Set(["learning", "flat", "cannot tell"]), new Set(["cannot tell"])];

function heldOutDetail(view: VerdictView): string | null {
  const { state } = view.finding;
  const text = heldOutText(view, saysPass.has(state) ? ["eval/pass@1"] : []);
  const interval = saysInterval.has(state) ? null : intervalText(view);
  const sources = view.record.imported ? sourcesText(view) : null;
  const parts = [
    ...(sources === null ? [] : [sources]),
    ...(text === null ? [] : [`held-out ${text}`]),
    ...(interval === null
      ? []
      : [
          `${text === null ? "held-out " : ""}${measureName(view)} changed by ${interval} (95 % interval that holds over all evaluations)`,
        ]),
  ];
  return parts.length === 0 ? null : sentence(parts.join("; "));
}

function reasons(view: VerdictView): readonly (string | null)[] {
  const { finding } = view;
  switch (finding.state) {
    case "collapsed":
    case "hacking":
      return [decidesWrongGroups(view)];
    case "starved":
      return [byArm(view), isCutOff(view.moment) ? longerAnswers : noSpread(view)];
    case "cannot tell":
      return [missing(view)];
    case "learning":
      return [solved(view)];
    default:
      return [];
  }
}

const longerAnswers =
  "Raise the limit on an answer's length (TRL `max_completion_length`, verl `data.max_response_length`), or ask for shorter answers.";

/** Where no answer is right, another term alone ranks the rollouts, and a scale by the spread makes it large whatever its weight. */
function decidesWrongGroups({ finding, moment }: VerdictView): string | null {
  const [wrong, zero] = [moment.start("groups/all_wrong").mean, moment.start("groups/zero_advantage").mean];
  if (finding.term === null || !moment.facts.summed || moment.facts.success.has(finding.term)) return null;
  if (!(wrong > 0.3) || !(zero < wrong)) return null;
  return `In ${formatFraction(wrong)} of the first groups no answer was right: there \`${finding.term}\` alone ranks them${moment.facts.scaled ? ", and dividing by the group's spread makes it count fully whatever its weight" : ""}.`;
}

/** "`countdown/4` is right 0.6 %, `countdown/3` 12 %." */
function byArm({ record }: VerdictView): string | null {
  const arms = new Map<string, { successes: number; rollouts: number }>();
  for (const { arm, successes, rollouts } of record.groups) {
    const own = arms.get(arm) ?? { successes: 0, rollouts: 0 };
    arms.set(arm, { successes: own.successes + successes, rollouts: own.rollouts + rollouts });
  }
  const rates = [...arms]
    .map(([arm, { successes, rollouts }]) => ({ arm, rate: successes / rollouts }))
    .sort((one, other) => one.rate - other.rate);
  if (rates.length < 2) return null;
  const [worst, best] = [rates[0]!, rates.at(-1)!];
  return `\`${worst.arm}\` is right ${formatFraction(worst.rate)}, \`${best.arm}\` ${formatFraction(best.rate)}.`;
}

function noSpread({ finding: { kind }, moment }: VerdictView): string | null {
  if (!["no-spread", "same-rewards", "same-mean"].includes(kind)) return null;
  return moment.facts.imported
    ? "Try the reward on reference answers (`gradus check --run`); where it is right, choose tasks that the model solves sometimes."
    : `The rewards of a group are equal: their standard deviation over the step is ${formatNumber(moment.now("reward/total/std").mean)}.`;
}

function missing({ finding, moment, record }: VerdictView): string | null {
  if (finding.kind === "few-steps") return null;
  if (["no-held-out", "no-evaluation"].includes(finding.kind))
    return record.evaluations.length > 0
      ? "A second evaluation, after training, would tell."
      : "Held-out results before and after training would tell (`evaluation`; verl `test_freq`, TRL `eval_strategy`).";
  const tasks = moment.comparison?.tasks ?? null;
  if (finding.kind === "no-tasks")
    return `From ${leastCurve} evaluations on, how far neighbours differ tells what chance does.`;
  if (tasks === null) return null;
  const interval = moment.comparison?.interval ?? null;
  const half = interval === null ? 0 : (interval.high - interval.low) / 2;
  const needed = Math.ceil((tasks * (half / 0.03) ** 2) / 64) * 64;
  return needed > tasks ? `About ${plural(needed, "task")} would show a difference of 3 points.` : null;
}

function solved({ moment }: VerdictView): string {
  const right = moment.now("groups/all_right").mean;
  return right > 0.7
    ? `${formatFraction(right)} of groups are all right: little is left to learn from these tasks.`
    : "Nothing to change yet.";
}

/** "`expert`, which does not train, did not rise: 0.20 → 0.18": held-out success may be what a judge takes for it. */
function goldStill({ heldOut, moment }: VerdictView): string | null {
  if (heldOut === null) return null;
  const { first, last } = heldOut;
  const still = moment.facts.gold.flatMap((term) => {
    const [before, after] = [first.metrics[`eval/reward/${term}`], last.metrics[`eval/reward/${term}`]];
    return before === undefined || after === undefined || after > before
      ? []
      : [
          `\`${term}\`, which does not train, did not rise on held-out answers: ${formatNumber(before)} → ${formatNumber(after)}.`,
        ];
  });
  return still[0] ?? null;
}

/** What a person should weigh before believing it; null: nothing was seen. */
export function againstOf(view: VerdictView): string | null {
  const { finding, moment } = view;
  const { comparison } = moment;
  switch (finding.state) {
    case "learning": {
      const lost = narrower(view);
      return lost === null
        ? goldStill(view)
        : `${lost.text}: no more tasks have a right answer among several.`;
    }
    case "collapsed":
      return comparison === undefined
        ? `No held-out score confirms it: training ${moment.solved.startsWith("reward/") ? "rewards" : "successes"} alone fell.`
        : finding.kind === "training" && (comparison.interval?.high ?? 0) > 0
          ? "The last held-out score is not worse beyond chance."
          : null;
    case "hacking":
      return comparison === undefined ? "No held-out score confirms it." : null;
    case "flat": {
      const [before, now] = [moment.start("reward/total").mean, moment.now("reward/total").mean];
      return now > before ? `The training reward rose ${formatNumber(before)} → ${formatNumber(now)}.` : null;
    }
    case "starved":
      return moment.gained ? "Held-out results are better than before training." : null;
    default:
      return null;
  }
}
