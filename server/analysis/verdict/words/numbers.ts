/** Sentences of numbers that several verdicts say. */
import { formatFraction, formatNumber, plural } from "../../../../shared/lib/format.ts";
import { heldOutNames } from "../../../../shared/run/outcome.ts";
import { isShare } from "../heldOut.ts";
import { movedBy, window } from "../trail.ts";
import type { VerdictView } from "../view.ts";

export const share = (value: number | undefined): string => formatFraction(value ?? null, 1);

/**
 * "pass@1 2.3 % → 0.0 %, pass@8 16 % → 0.0 % (128 tasks)"; null where nothing was measured.
 * @param except what has been said already
 */
export function heldOutText({ heldOut, moment }: VerdictView, except: readonly string[] = []): string | null {
  if (heldOut === null) return null;
  const { first, last } = heldOut;
  const changes = heldOutNames(last.metrics)
    .filter((name) => first.metrics[name] !== undefined && !except.includes(name))
    .map(
      (name) => `${name.slice("eval/".length)} ${share(first.metrics[name])} → ${share(last.metrics[name])}`,
    );
  const tasks = moment.comparison?.tasks ?? null;
  return changes.length === 0
    ? null
    : `${changes.join(", ")}${tasks === null ? "" : ` (${plural(tasks, "task")})`}`;
}

const signed = (value: number): string => `${value < 0 ? "−" : "+"}${formatNumber(Math.abs(value))}`;

/** "−1.2 to +4.8 points": the interval of the difference of pass@1. */
export function intervalText({ moment }: VerdictView): string | null {
  const interval = moment.comparison?.interval ?? null;
  if (interval === null) return null;
  if (moment.comparison !== undefined && !isShare(moment.comparison))
    return `${signed(interval.low)} to ${signed(interval.high)}`;
  const points = (value: number): string => `${value < 0 ? "−" : "+"}${(Math.abs(value) * 100).toFixed(1)}`;
  return `${points(interval.low)} to ${points(interval.high)} points`;
}

/** "reward", of a run whose held-out results are rewards alone. */
export const measureName = ({ moment: { comparison } }: VerdictView): string =>
  comparison === undefined || isShare(comparison) ? "pass@1" : "reward";

/** "41 % → 69 %", and over how many evaluations at either end. */
export function changeText({ moment: { comparison } }: VerdictView): string {
  if (comparison === undefined) return "–";
  const { before, after, over } = comparison;
  const said = isShare(comparison) ? share : formatNumber;
  const means = over === 1 ? "" : `, ${meansOf(over, "evaluations")}`;
  return `${said(before)} → ${said(after)}${means}`;
}

/** What a number is that is nowhere in the log. */
export const meansOf = (count: number, what: "steps" | "evaluations"): string =>
  `means of the first and the last ${count} ${what}`;

/** "`gsm8k` 60 % → 72 %, `math` 31 % → 33 %": each source of data by itself; null where there is one. */
export function sourcesText({ heldOut }: VerdictView): string | null {
  if (heldOut === null) return null;
  const { first, last } = heldOut;
  const found = Object.keys(last.metrics).flatMap((name) => {
    const source = /^eval\/(.+)\/pass@1$/.exec(name)?.[1];
    return source === undefined || first.metrics[name] === undefined
      ? []
      : [`\`${source}\` ${share(first.metrics[name])} → ${share(last.metrics[name])}`];
  });
  return found.length < 2 ? null : `by source of data: ${found.slice(0, mostSources).join(", ")}`;
}
const mostSources = 6;

interface Said {
  readonly metric: string;
  readonly name: string;
  readonly unit: string;
}
const told: readonly Said[] = [
  { metric: "reward/total", name: "training reward", unit: "" },
  { metric: "groups/success_rate", name: "training success", unit: "%" },
  { metric: "rollout/length", name: "answers", unit: " tokens" },
  { metric: "rollout/truncated", name: "truncated", unit: "%" },
  { metric: "policy/entropy", name: "entropy", unit: " nats" },
];
/** Standard errors that a number must have moved to be worth saying. */
const notable = 4;

/** "Training reward 0.035 → 0.098; answers 8.1 → 2 tokens": what has moved since training began; null: nothing has. */
export function movedText({ moment }: VerdictView, most = 3): string | null {
  const moved = told.flatMap(({ metric, name, unit }) => {
    const [before, now] = [moment.start(metric), moment.now(metric)];
    if (!(Math.abs(movedBy(before, now)) > notable)) return [];
    const text =
      unit === "%"
        ? `${name} ${formatFraction(before.mean)} → ${formatFraction(now.mean)}`
        : `${name} ${formatNumber(before.mean)} → ${formatNumber(now.mean)}${unit}`;
    return [text];
  });
  if (moved.length === 0) return null;
  // A reader of a log looks for its numbers there.
  const means = moment.facts.imported ? ` (${meansOf(window, "steps")})` : "";
  return sentence(`${moved.slice(0, most).join("; ")}${means}`);
}

/** Begins with a capital, ends with a full stop. */
export const sentence = (text: string): string =>
  `${text.slice(0, 1).toUpperCase()}${text.slice(1)}${/[.!?]$/.test(text) ? "" : "."}`;
