/** A finding in two to four words, and in one sentence. */
import { formatFraction, formatNumber } from "../../../../shared/lib/format.ts";
import { heldOutNames, said } from "../../../../shared/run/outcome.ts";
import type { Verdict } from "../../../../shared/run/verdict.ts";
import type { Finding } from "../finding.ts";
import type { GoldFall } from "../gold.ts";
import { endOfCollapse } from "../alarms/collapsed.ts";
import { teaching } from "../alarms/starved.ts";
import { window } from "../trail.ts";
import type { VerdictView } from "../view.ts";
import { collapseText, cutOffText, isCutOff } from "./collapse.ts";
import { changeText, intervalText, measureName, share } from "./numbers.ts";

export function labelOf({ state, since, term }: Finding): string {
  switch (state) {
    case "collapsed":
      return `collapsed at ${since}`;
    case "hacking":
      return term === null ? "hacking the reward" : `hacking \`${term}\``;
    case "starved":
    case "unstable":
      return `${state} since ${since}`;
    default:
      return state;
  }
}

/** How a headline names a term before it is shown to be the cause, and after. */
const [companion, cause] = [" together with ", " because of "];

/** Says in its headline that the term is the cause, where that was shown. */
export const withCause = (verdict: Verdict): Verdict =>
  verdict.cause?.shown === true
    ? { ...verdict, headline: verdict.headline.replace(companion, cause) }
    : verdict;

export function headlineOf(view: VerdictView): string {
  const { finding } = view;
  switch (finding.state) {
    case "collapsed":
      return `Collapsed ${whenText(view)}${view.record.imported ? collapseText(view) : together(finding)}`;
    case "hacking":
      return hackingHeadline(view);
    case "starved":
      return starvedHeadline(view);
    case "unstable":
      return unstableHeadline(view);
    case "failing":
      return failingHeadline(view);
    case "learning":
      return learningHeadline(view);
    case "flat":
      return `Flat: held-out pass@1 is what it was before training, within 3 points (${changeText(view)})`;
    case "too early":
      return tooEarly(view);
    case "cannot tell":
      return cannotTell(view);
  }
}

/** Where it went on for steps, the first and the last of them: people look at the first. */
function whenText({ finding: { since }, moment }: VerdictView): string {
  const end = since === null ? null : endOfCollapse(moment, since);
  return end === null ? `at step ${since}` : `from step ${since} to ${end}`;
}

const together = ({ term }: Finding): string => (term === null ? "" : `${companion}\`${term}\``);

function hackingHeadline(view: VerdictView): string {
  const { finding, moment } = view;
  if (finding.kind === "any-answer")
    return `Hacking ${name(finding.term)}: ${formatFraction(moment.now("rollout/unearned").mean)} of the successes come from responses that also succeed on tasks with another answer`;
  if (finding.kind === "gold" && moment.goldFall !== null)
    return goldHeadline(finding.since, moment.goldFall);
  if (moment.facts.guessed && finding.kind === "term")
    return `Hacking ${name(finding.term)} since step ${finding.since}${collapseText(view)}`;
  const [before, now] = [moment.start("reward/total"), moment.now("reward/total")];
  return `Hacking ${name(finding.term)} since step ${finding.since}: the reward rose ${formatNumber(before.mean)} → ${formatNumber(now.mean)} and successes did not`;
}
function goldHeadline(since: number | null, { term, gold, reward }: GoldFall): string {
  const changed = ({ before, after }: GoldFall["gold"]): string =>
    `${formatNumber(before)} → ${formatNumber(after)}`;
  return `Hacking the reward since step ${since}: on held-out answers it rose ${changed(reward)}, and \`${term}\`, which does not train, fell ${changed(gold)}`;
}
const name = (term: string | null): string => (term === null ? "the reward" : `\`${term}\``);

function starvedHeadline({ finding, moment }: VerdictView): string {
  const cutOff = isCutOff(moment) ? `; ${cutOffText(moment)}` : "";
  return `Starved since step ${finding.since}: ${starvedText(finding, moment)}${cutOff}`;
}

function starvedText({ kind }: Finding, moment: VerdictView["moment"]): string {
  const mean = formatNumber(moment.now("reward/total").mean);
  if (kind === "same-mean") return `the reward is ${mean} at every step, so there is nothing to learn from`;
  const zero = moment.now("groups/zero_advantage").mean;
  if (kind === "same-rewards" || (kind === "no-spread" && moment.facts.imported && zero > 1 - 1e-9))
    return `all answers of a group get the same reward (on average ${mean}), so there is nothing to learn from`;
  if (kind === "no-gradient") return "the gradient is 0, so nothing trains";
  const why = {
    "too-hard": `${formatFraction(moment.now("groups/all_wrong").mean)} of groups are all wrong`,
    "too-easy": `${formatFraction(moment.now("groups/all_right").mean)} of groups are all right`,
  }[kind];
  const left = `${formatFraction(Math.max(0, teaching(moment)))} of groups train`;
  return why === undefined ? left : `${why}, so ${left}`;
}

function unstableHeadline({ finding, moment }: VerdictView): string {
  if (finding.kind === "not-finite")
    return `Unstable since step ${finding.since}: ${brokenText(moment)} not a finite number`;
  const [before, now] = [moment.start("policy/entropy"), moment.now("policy/entropy")];
  return `Unstable since step ${finding.since}: the entropy rose ${formatNumber(before.mean)} → ${formatNumber(now.mean)} nats, towards random tokens`;
}

function brokenText(moment: VerdictView["moment"]): string {
  if (!moment.facts.imported) return "the loss or its gradient is";
  const [loss, gradient] = [moment.brokenSince("update/loss"), moment.brokenSince("update/grad_norm")];
  if (loss !== null && gradient !== null) return "the loss and the norm of its gradient are";
  return loss === null ? "the norm of the gradient is" : "the loss is";
}

function failingHeadline({ finding, moment, record }: VerdictView): string {
  const rollouts = moment.now("rollout/count").mean;
  const part = moment.now(`reward/${finding.term}/errors`).mean / rollouts;
  return `Failing since step ${finding.since}: ${name(finding.term)} fails on ${formatFraction(part)} of rollouts${said(finding.term ?? "", record.failures)}`;
}

function learningHeadline(view: VerdictView): string {
  const sharper = narrower(view);
  return `Learning${sharper === null ? "" : ", sharper but not wider"}: held-out ${measureName(view)} rose ${changeText(view)}`;
}

/** The largest k of pass@k, where it has not risen while pass@1 has. */
export function narrower({
  heldOut,
  finding,
}: VerdictView): { readonly name: string; readonly text: string } | null {
  if (heldOut === null || finding.state !== "learning") return null;
  const { first, last } = heldOut;
  const widest = heldOutNames(last.metrics)
    .filter((name) => /pass@(?!1$)/.test(name))
    .at(-1);
  const [before, after] = [first.metrics[widest ?? ""], last.metrics[widest ?? ""]];
  if (widest === undefined || before === undefined || after === undefined || after > before) return null;
  const label = widest.slice("eval/".length);
  return { name: label, text: `${label} ${share(before)} → ${share(after)}` };
}

function tooEarly(view: VerdictView): string {
  const { finding, moment, record } = view;
  const { every } = moment.facts;
  if (finding.kind === "few-steps") return `Too early to say: ${moment.count} of the first 10 steps are done`;
  if (finding.kind === "no-evaluation") {
    const next = every === null ? record.steps - 1 : Math.min(record.steps, moment.begin + every) - 1;
    return `Too early to say: the first held-out results to compare come after step ${next}`;
  }
  return `Too early to say: held-out ${measureName(view)} ${changeText(view)}, which may be chance`;
}

function cannotTell(view: VerdictView): string {
  const { finding, moment } = view;
  if (finding.kind === "few-steps")
    return `Cannot tell: ${moment.count === 1 ? "1 step has" : `${moment.count} steps have`} metrics, and trends show from ${window} on`;
  if (["no-held-out", "no-evaluation"].includes(finding.kind)) {
    const reward =
      moment.start("reward/total").mean < moment.now("reward/total").mean ? "rises" : "does not rise";
    return `Cannot tell: the training reward ${reward}, and ${noComparison(view)}`;
  }
  if (finding.kind === "no-tasks")
    return `Cannot tell: held-out ${measureName(view)} ${changeText(view)}, and the log does not say over how many tasks`;
  return `Cannot tell: held-out ${measureName(view)} ${changeText(view)}, a difference of ${intervalText(view) ?? "unknown size"}`;
}

/** Why there are no two held-out results to compare. */
function noComparison({ record: { evaluations, imported, heldOut = [] } }: VerdictView): string {
  const [only] = evaluations;
  if (only?.role === "first" && !imported) return "held-out tasks were evaluated before training alone";
  if (only !== undefined) return `held-out tasks were evaluated once, after step ${only.step}`;
  return heldOut.length === 0
    ? "there is no held-out score"
    : `what was recorded of held-out tasks cannot be compared (${heldOut
        .slice(0, 2)
        .map((one) => `\`${one}\``)
        .join(", ")}${heldOut.length > 2 ? ", …" : ""})`;
}
