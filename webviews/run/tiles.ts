/** The numbers above the charts: pure, from a run's series to labelled values. */
import { formatChange, formatFraction, formatNumber, formatSeconds, plural } from "../../shared/format.ts";
import { isLive } from "../../shared/runStatus.ts";
import { evaluationColumn, firstTraining, stageAt, warming, type RunView } from "./models.ts";
import type { RunSeries } from "../shared/series.ts";

export interface Tile {
  readonly label: string;
  readonly value: string;
  readonly note: string;
  readonly tone?: "good" | "bad";
}

/** A single step is noise: what a run "has now" is the mean of its last few. */
const window = 10;

const finite = (values: readonly (number | null)[]): number[] => values.filter((value) => value !== null);
const mean = (values: readonly number[]): number | null =>
  values.length === 0 ? null : values.reduce((a, b) => a + b, 0) / values.length;
const median = (values: readonly number[]): number | null =>
  [...values].sort((a, b) => a - b)[values.length >> 1] ?? null;
const first = (series: RunSeries, metric: string): number | null => mean(series.earliest(metric, window));
const recent = (series: RunSeries, metric: string): number | null => mean(series.latest(metric, window));

function direction(change: number | null): Pick<Tile, "tone"> {
  return change === null || Math.abs(change) < 0.005 ? {} : { tone: change > 0 ? "good" : "bad" };
}

function lossTile({ series }: RunView): Tile {
  return { label: "Loss", value: formatNumber(recent(series, "update/loss")), note: "warming up" };
}

function rewardTile({ series }: RunView): Tile {
  const now = recent(series, "reward/total");
  const start = first(series, "reward/total");
  const few = series.column("reward/total").values.length <= window;
  const change = now === null || start === null || few ? null : now - start;
  return {
    label: "Reward",
    value: formatNumber(now),
    note: `mean of last ${window} steps${change === null ? "" : `, ${formatChange(change)} since start`}`,
    ...direction(change),
  };
}

function passTile({ evaluations, run }: RunView): Tile {
  const values = finite(evaluationColumn(evaluations, "eval/pass@1").values);
  const from = run.summary.first?.["eval/pass@1"] ?? values[0] ?? null;
  const to = run.summary.last?.["eval/pass@1"] ?? values.at(-1) ?? null;
  if (to === null) return { label: "Held-out pass@1", value: "–", note: "not evaluated yet" };
  const change = from === null || values.length < 2 ? null : to - from;
  const note = change === null ? "first evaluation" : `${formatFraction(from, 1)} → ${formatFraction(to, 1)}`;
  return { label: "Held-out pass@1", value: formatFraction(to, 1), note, ...direction(change) };
}

function batchTile({ series, run }: RunView): Tile {
  const mixed = series.at("groups/mixed");
  const drawn = series.at("groups/drawn");
  const label = "Effective batch";
  if (mixed === null) return { label, value: "–", note: "groups that teach" };
  if (drawn === null || run.group === null)
    return { label, value: formatFraction(mixed), note: "of groups are mixed" };
  const groups = Math.round(mixed * drawn);
  return {
    label,
    value: formatNumber(groups * run.group),
    note: `of ${formatNumber(drawn * run.group)} rollouts, ${plural(groups, "mixed group")}`,
  };
}

function truncationTile({ series }: RunView): Tile {
  const cut = recent(series, "rollout/truncated");
  const length = recent(series, "rollout/length");
  const note = length === null ? "of responses" : `mean length ${formatNumber(length)} tokens`;
  return {
    label: "Cut off",
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

function errorTile({ series }: RunView, errors: number): Tile {
  const failed = series.names
    .filter((name) => /^reward\/.+\/errors$/.test(name))
    .reduce((sum, name) => sum + series.sum(name), 0);
  const total = failed + errors;
  const note =
    failed > 0 ? `${plural(failed, "rollout")} not scored` : errors > 0 ? "see the log" : "none so far";
  return {
    label: "Errors",
    value: formatNumber(total),
    note,
    ...(total > 0 ? { tone: "bad" as const } : {}),
  };
}

export const tiles = (view: RunView, errors: number): readonly Tile[] => [
  warming(view) ? lossTile(view) : rewardTile(view),
  passTile(view),
  batchTile(view),
  truncationTile(view),
  speedTile(view),
  errorTile(view, errors),
];

/**
 * Seconds until the run's last step at the pace of its recent ones, or null where that cannot be told. While a warm-up
 * runs, nothing is known of the pace of training, so this is the time left in the warm-up.
 */
export function secondsLeft({
  run,
  series,
}: RunView): { readonly seconds: number; readonly of: "run" | "warm-up" } | null {
  const { status, step, steps } = run.summary;
  if (!isLive(status) || status === "paused" || step < 0) return null;
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
