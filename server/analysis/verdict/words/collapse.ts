/** What fell in a run of another trainer, and what rose meanwhile: its log has rewards and no successes. */
import { formatFraction, formatNumber } from "../../../../shared/lib/format.ts";
import { takeover } from "../takeover.ts";
import type { Moment } from "../moment.ts";
import { window } from "../trail.ts";
import type { VerdictView } from "../view.ts";
import { meansOf } from "./numbers.ts";

const truncated = "rollout/truncated";
/** Of the answers: then next to nothing of what is asked for can be in them. */
const mostCutOff = 0.95;
/** More of them cut off than at the start, so that it is worth saying. */
const grown = 0.4;

/** Of another trainer: what its answers are cut off by is a key of its own. */
export const isCutOff = (moment: Moment): boolean =>
  moment.facts.imported && moment.now(truncated).mean >= mostCutOff;
export const cutOffText = (moment: Moment): string =>
  `${formatFraction(moment.now(truncated).mean)} of answers are cut off at the length limit`;

/** ": `format` 0.2 → 1 while `correct` fell 0.4 → 0.1 (means of …); held-out `val-core` 0.41 → 0.12"; empty: nothing was recorded. */
export function collapseText(view: VerdictView): string {
  const training = [fallText(view), lengthText(view)].filter((part) => part !== null).join("; ");
  const parts = [
    ...(training === "" ? [] : [`${training} (${meansOf(window, "steps")})`]),
    ...heldOutText(view),
  ];
  return parts.length === 0 ? "" : `: ${parts.join("; ")}`;
}

function fallText({ finding, moment }: VerdictView): string | null {
  const metric = moment.solved;
  const [before, now] = [moment.start(metric).mean, moment.now(metric).mean];
  const term = finding.term ?? takeover(moment)?.term ?? null;
  const rise = term === null ? null : `\`${term}\` ${moved(moment, `reward/${term}`)}`;
  if (!(now < before)) return rise;
  const name =
    { "groups/success_rate": "training success", "reward/total": "the training reward" }[metric] ??
    `\`${metric.slice("reward/".length)}\``;
  return `${rise === null ? "" : `${rise} while `}${name} fell ${moved(moment, metric)}`;
}

const moved = (moment: Moment, metric: string): string =>
  change(moment.start(metric).mean, moment.now(metric).mean);
const change = (before: number, now: number): string => `${formatNumber(before)} → ${formatNumber(now)}`;

function lengthText({ moment }: VerdictView): string | null {
  const [before, now] = [moment.start(truncated).mean, moment.now(truncated).mean];
  return now - before > grown
    ? `answers that are cut off ${formatFraction(before)} → ${formatFraction(now)}`
    : null;
}

/** Under the trainer's own name of it. */
function heldOutText({ moment: { comparison }, record: { heldOut = [] } }: VerdictView): string[] {
  if (comparison === undefined) return [];
  const family = heldOut
    .filter((name) => !own.test(name))
    .map((name) => families.exec(name)?.[0])
    .find((name) => name !== undefined);
  const name = family === undefined ? "" : ` \`${family}\``;
  const means = comparison.over === 1 ? "" : ` (${meansOf(comparison.over, "evaluations")})`;
  return [`held-out${name} ${change(comparison.before, comparison.after)}${means}`];
}
/** Gradus's names, which the evaluations of the run have. */
const own = /^eval\/(?:reward\/|greedy$|(?:.+\/)?pass@)/;
const families = /^(?:val-core|val-aux|val\/test_score|val_correct|eval[_/]rewards?|eval)(?=[/_]|$)/;
