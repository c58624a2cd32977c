/** The numbers above the charts: pure, from a run's series to labelled values. */
import { stepsPlanned } from "../../shared/run/origin.ts";
import {
  formatChange,
  formatFraction,
  formatNumber,
  formatSeconds,
  plural,
} from "../../shared/lib/format.ts";
import { shortFailure } from "../../shared/rollouts/failureText.ts";
import type { PanelFailures } from "../../shared/editor/runPanel.ts";
import { isLive, isSettled } from "../../shared/protocol/runStatus.ts";
import { evaluationColumn, firstTraining, stageAt, warming, type RunView } from "./models.ts";
import type { RunSeries } from "../shared/series.ts";
import type { Tile } from "./tile.ts";
import { tilesAt } from "./tilesAt.ts";

export type { Tile } from "./tile.ts";

/** A single step is noise: what a run "has now" is the mean of its last few. */
const window = 10;

const finite = (values: readonly (number | null)[]): number[] => values.filter((value) => value !== null);
const mean = (values: readonly number[]): number | null =>
  values.length === 0 ? null : values.reduce((a, b) => a + b, 0) / values.length;
const median = (values: readonly number[]): number | null =>
  [...values].sort((a, b) => a - b)[values.length >> 1] ?? null;
const recent = (series: RunSeries, metric: string): number | null => mean(series.latest(metric, window));

/** A change of less is drawn as none. */
const slight = 0.005;
function direction(change: number | null): Pick<Tile, "tone"> {
  return change === null || Math.abs(change) < slight ? {} : { tone: change > 0 ? "good" : "bad" };
}

/** Sum of a metric over some steps, or null where it has none of them. */
function sumOver(series: RunSeries, metric: string, steps: readonly number[]): number | null {
  const found = finite(steps.map((step) => series.near(metric, step)));
  return found.length === 0 ? null : found.reduce((sum, value) => sum + value, 0);
}

/** How many of the rollouts of some steps have a reward; null where that was not recorded. */
function scoredOf(
  { series }: RunView,
  steps: readonly number[],
): { readonly scored: number; readonly all: number } | null {
  const [scored, all] = [sumOver(series, "rollout/scored", steps), sumOver(series, "rollout/count", steps)];
  return scored === null || all === null || all === 0 ? null : { scored, all };
}

/** Whether each term weighs the same at both ends, as far as that was recorded: else the reward is another one. */
const sameWeights = ({ series }: RunView, steps: readonly number[]): boolean =>
  series.names
    .filter((name) => /^reward\/.+\/weight$/.test(name))
    .every((name) => {
      const weights = finite(steps.map((step) => series.near(name, step)));
      // A long run's weights are means of buckets: the same but for rounding.
      return weights.every((weight) => Math.abs(weight - weights[0]!) <= 1e-9 * Math.abs(weights[0]!));
    });

function lossTile({ series, run }: RunView): Tile {
  const { status, step } = run.summary;
  const over = step < 0 ? "no step made" : "of the warm-up";
  const note = isSettled(status) ? over : "warming up";
  return { label: "Loss", value: formatNumber(recent(series, "update/loss")), note };
}

/** Held-out answers got worse since the first evaluation. */
function heldOutFell(view: RunView): boolean {
  const { from, to } = passes(view);
  const warned = view.run.summary.warnings?.some(({ reason }) => reason === "held-out-worse") === true;
  return warned || (from !== null && to !== null && to - from <= -slight);
}

/**
 * The mean of the last steps, with how it has changed in the present stage. Only like is compared with like: the same
 * weights, and nearly all rollouts scored at both ends; the mean of the few that a failing term left over says nothing.
 */
function rewardTile(view: RunView): Tile {
  const { series, run } = view;
  const begins = stageAt(run, run.summary.step)?.step ?? 0;
  const ends = [
    series.firstPoints("reward/total", window, begins),
    series.lastPoints("reward/total", window, begins),
  ] as const;
  const [start, now] = [
    { steps: ends[0].steps, value: mean(finite(ends[0].values)) },
    { steps: ends[1].steps, value: mean(finite(ends[1].values)) },
  ];
  const isShort = series.lastPoints("reward/total", window + 1, begins).steps.length <= window;
  const value = formatNumber(now.value);
  const counted = scoredOf(view, now.steps);
  if (counted !== null && counted.scored < counted.all)
    return {
      label: "Reward",
      value,
      note: `mean of ${formatNumber(counted.scored)} of ${formatNumber(counted.all)} scored, last ${plural(now.steps.length, "step")}`,
    };
  const before = scoredOf(view, start.steps);
  const alike =
    sameWeights(view, [...start.steps, ...now.steps]) && (before === null || before.scored === before.all);
  if (now.value === null || start.value === null || isShort || !alike)
    return {
      label: "Reward",
      value,
      note: `mean of last ${plural(Math.max(now.steps.length, 1), "step")}`,
    };
  const change = now.value - start.value;
  const since =
    begins > 0 && run.stages.filter(({ kind }) => kind === "rl").length > 1 ? "the stage began" : "start";
  const note = `mean of last ${plural(now.steps.length, "step")}, ${formatChange(change)} since ${since}`;
  // The reward went up while the held-out result went down: no green arrow for that.
  return change > 0 && heldOutFell(view)
    ? { label: "Reward", value, note: `${note}, while held-out fell` }
    : { label: "Reward", value, note, ...direction(change) };
}

function passes({ evaluations, run }: RunView): {
  readonly from: number | null;
  readonly to: number | null;
  readonly count: number;
} {
  const values = finite(evaluationColumn(evaluations, "eval/pass@1").values);
  return {
    from: run.summary.first?.["eval/pass@1"] ?? values[0] ?? null,
    to: run.summary.last?.["eval/pass@1"] ?? values.at(-1) ?? null,
    count: values.length,
  };
}

function passTile(view: RunView): Tile {
  const { from, to, count } = passes(view);
  const { origin, status } = view.run.summary;
  const unmeasured = isSettled(status) ? "never evaluated" : "not evaluated yet";
  const none = origin === undefined ? unmeasured : "not recorded";
  if (to === null) return { label: "Held-out pass@1", value: "–", note: none };
  const change = from === null || count < 2 ? null : to - from;
  const note = change === null ? "first evaluation" : `${formatFraction(from, 1)} → ${formatFraction(to, 1)}`;
  // No arrow for a change that the verdict says is none, or not known.
  const open = ["too early", "cannot tell", "flat"].includes(view.run.summary.verdict?.state ?? "");
  return { label: "Held-out pass@1", value: formatFraction(to, 1), note, ...(open ? {} : direction(change)) };
}

/** Groups whose rollouts differ in advantage; where that was not recorded, those that were right in part. */
function batchTile({ series, run }: RunView): Tile {
  const silent = series.at("groups/zero_advantage");
  const teach = silent === null ? series.at("groups/mixed") : 1 - silent;
  const drawn = series.at("groups/drawn");
  const label = "Effective batch";
  const what = silent === null ? "mixed group" : "group with a signal";
  if (teach === null) return { label, value: "–", note: "groups with a signal" };
  if (drawn === null || run.group === null)
    return {
      label,
      value: formatFraction(teach),
      note: silent === null ? "of groups are mixed" : "of groups have a signal",
    };
  const groups = Math.round(teach * drawn);
  const counted = groups === 1 ? `1 ${what}` : `${formatNumber(groups)} ${what.replace("group", "groups")}`;
  return {
    label,
    value: formatNumber(groups * run.group),
    note: `of ${formatNumber(drawn * run.group)} rollouts, ${counted}`,
  };
}

function truncationTile({ series }: RunView): Tile {
  const cut = recent(series, "rollout/truncated");
  const length = recent(series, "rollout/length");
  const note = length === null ? "of responses" : `mean length ${formatNumber(length)} tokens`;
  return {
    label: "Truncated",
    value: formatFraction(cut),
    note,
    ...(cut !== null && cut > 0.1 ? { tone: "bad" as const } : {}),
  };
}

function speedTile({ series }: RunView): Tile {
  const seconds = median(series.latest("time/total", window));
  const tokens = median(series.latest("tokens/generated", window));
  const note =
    tokens === null || seconds === null || seconds === 0
      ? "per step"
      : `${formatNumber(tokens / seconds)} tokens per second`;
  return { label: "Step time", value: formatSeconds(seconds), note };
}

function errorTile({ series, run }: RunView, errors: number, failures: PanelFailures | undefined): Tile {
  const failed = series.names
    .filter((name) => /^reward\/.+\/errors$/.test(name))
    .reduce((sum, name) => sum + series.sum(name), 0);
  const total = failed + errors;
  return {
    label: "Errors",
    value: formatNumber(total),
    note:
      total === 0 ? (isSettled(run.summary.status) ? "none" : "none so far") : errorNote(failed, failures),
    ...(total > 0 ? { tone: "error" as const } : {}),
  };
}

function errorNote(failed: number, failures: PanelFailures | undefined): string {
  if (failed === 0) return "see the log";
  const [most] = failures?.failures ?? [];
  const worst = most === undefined ? undefined : failures?.failed[most.term];
  if (failures === undefined || most === undefined || worst === undefined)
    return `${plural(failed, "rollout")} not scored`;
  const all =
    failures.rollouts > 0
      ? `${formatNumber(worst)} of ${plural(failures.rollouts, "rollout")}`
      : plural(worst, "rollout");
  return `${most.term} failed on ${all}: ${shortFailure(most.message)}`;
}

/** @param cursor the step that they are of; null: the last few */
export const tiles = (
  view: RunView,
  errors: number,
  failures?: PanelFailures,
  cursor: number | null = null,
): readonly Tile[] => (cursor === null ? latestTiles(view, errors, failures) : tilesAt(view, cursor));

const latestTiles = (view: RunView, errors: number, failures?: PanelFailures): readonly Tile[] => [
  warming(view) ? lossTile(view) : rewardTile(view),
  passTile(view),
  batchTile(view),
  truncationTile(view),
  speedTile(view),
  errorTile(view, errors, failures),
];

/**
 * Seconds until the run's last step at the pace of its recent ones, or null where that is unknown. While a warm-up
 * runs, nothing is known of the pace of training, so this is the time left in the warm-up.
 */
export function secondsLeft({
  run,
  series,
}: RunView): { readonly seconds: number; readonly of: "run" | "warm-up" } | null {
  const { status, step, steps } = run.summary;
  if (!isLive(status) || status === "paused" || step < 0 || stepsPlanned(run.summary) === null) return null;
  const begins = firstTraining(run);
  const since = begins ?? 0;
  const pace = median(series.latest("time/total", 2 * window, Math.max(since, step - 2 * window + 1)));
  if (pace === null) return null;
  if (begins !== null && step >= begins) return { seconds: pace * Math.max(0, steps - 1 - step), of: "run" };
  const stage = stageAt(run, step);
  const planned = run.planned.find((one) => one.name === stage?.name)?.steps ?? null;
  return planned === null || stage === undefined
    ? null
    : { seconds: pace * Math.max(0, stage.step + planned - 1 - step), of: "warm-up" };
}
