/** From a run's series to the charts of its panel: pure. */
import { formatCount, formatNumber } from "../../shared/lib/format.ts";
import type { ChartId } from "../../shared/editor/runPanel.ts";
import type { PanelTurnover } from "../../shared/editor/panelTurnover.ts";
import type { CurriculumOverview } from "../../shared/protocol/protocol.ts";
import { isLive } from "../../shared/protocol/runStatus.ts";
import type { CourseReport } from "../../shared/run/forecastReport.ts";
import { trainerText } from "../../shared/run/origin.ts";
import type { PanelEvaluation, PanelRun } from "../../shared/editor/runPanel.ts";
import type { ChartModel, Format, ChartLine, Tone } from "../shared/chartModel.ts";
import { align, broken, stack, withZeros, type Aligned, type PlotValue } from "../shared/columns.ts";
import type { Column } from "../shared/column.ts";
import type { RunSeries } from "../shared/series.ts";

export interface RunView {
  readonly run: PanelRun;
  readonly series: RunSeries;
  readonly evaluations: readonly PanelEvaluation[];
  readonly turnover?: PanelTurnover | undefined;
  readonly forecast?: CourseReport | undefined;
  /** Groups of all arms, counted; none until they have been. */
  readonly overview?: CurriculumOverview | null;
}
/** `all`: every rollout of the step; `admitted`: what training was given of them; `drawn`: groups; `held-out`: tasks that never train. */
export type Over = "all" | "admitted" | "drawn" | "held-out";

export interface ChartDefinition {
  readonly id: ChartId;
  readonly title: string;
  /** Next to the verdict, a lane of the timeline, or a lane that is opened. */
  readonly place: "learning" | "lane" | "more";
  /** Over what its curves are. */
  readonly over?: Over;
  /** Not every run has it: then there is no chart rather than an empty one. */
  readonly optional?: boolean;
  /** Drawn even while nothing moves in it: that it does not is what there is to see. */
  readonly steady?: boolean;
  readonly model: (view: RunView) => ChartModel;
}

export interface LineStyle {
  readonly name: string;
  readonly tone: Tone;
  readonly dash: number;
  readonly format: Format;
  readonly style?: ChartLine["style"];
  readonly axis?: ChartLine["axis"];
}

export const line = (
  style: LineStyle,
  raw: ChartLine["raw"],
  values: ChartLine["values"] = raw,
): ChartLine => ({
  style: "line",
  axis: "left",
  ...style,
  raw,
  values,
});

/** A line of an aligned column, with its extremes where it is in buckets. */
export function lineOf(style: LineStyle, { values, spreads }: Aligned, column: number): ChartLine {
  const spread = spreads[column];
  return { ...line(style, values[column] ?? []), ...(spread === undefined ? {} : { spread }) };
}

/** Values without any number in them draw nothing. */
export const blank = (values: readonly PlotValue[]): boolean =>
  values.every((value) => value === null || Number.isNaN(value));

export function charted(
  view: RunView,
  what: string,
  { steps, begins }: Pick<Aligned, "steps"> & Partial<Aligned>,
  lines: readonly ChartLine[],
  limits: ChartModel["limits"] = null,
  least?: number,
): ChartModel {
  const seen = lines.filter((one) => !blank(one.values));
  if (seen.length === 0) return { steps: [], lines: [], limits, empty: awaited(view, what) };
  const drawn = seen.map((one) =>
    one.style === "points" ? one : { ...one, values: broken(steps, one.values) },
  );
  return {
    steps,
    ...(begins === undefined ? {} : { begins }),
    ...(least === undefined ? {} : { least }),
    lines: drawn,
    limits,
    empty: null,
  };
}

/** The stage that a step belongs to. */
export const stageAt = (run: PanelRun, step: number): PanelRun["stages"][number] | undefined =>
  run.stages.findLast((stage) => stage.step <= Math.max(step, 0));

/** Where training with rewards begins, or null while it has not. */
export const firstTraining = (run: PanelRun): number | null =>
  run.stages.find((stage) => stage.kind === "rl")?.step ?? null;

/** Only warm-up steps so far: losses, and no rewards yet. */
export const warming = ({ run, series }: RunView): boolean =>
  stageAt(run, run.summary.step)?.kind !== "rl" && series.column("reward/total").steps.length === 0;

/** What is awaited, while there is nothing to draw. */
export function awaited(view: RunView, what: string): string {
  const { run, series } = view;
  const { status, message, step, origin } = run.summary;
  if (status === "reading") return `Reading the run's log: the ${what} appears when it is read.`;
  if (origin !== undefined) return `${trainerText(origin)} recorded no ${what}.`;
  if (!isLive(status)) {
    const ended = `the run ${status === "finished" || status === "failed" ? status : `was ${status}`}`;
    const why = message === null || message === "" ? "" : ` ${message}`;
    const begins = firstTraining(run);
    if (begins === null || step < begins) return `No ${what}: ${ended} before its first training step.${why}`;
    return `No ${what}: ${ended} without ${what === "held-out results" ? "an evaluation" : "recording any"}.${why}`;
  }
  if (step < 0)
    return `Waiting for the first step: the run's process is starting. The ${what} appears after it.`;
  const stage = stageAt(run, step);
  if (stage !== undefined && stage.kind !== "rl")
    return what === "reward"
      ? `${warmingUp(view)} The reward appears when training begins.`
      : "Appears when training begins.";
  return status === "paused"
    ? `Paused before any ${what} was recorded.`
    : `Waiting for the ${what} of step ${Math.max(series.last, step) + 1}.`;
}

/** "Warming up: step 40 of 300, loss 1.2." */
export function warmingUp({ run, series }: RunView): string {
  const { step } = run.summary;
  const stage = stageAt(run, step);
  const planned = run.planned.find((one) => one.name === stage?.name)?.steps ?? null;
  const loss = series.at("update/loss");
  const of = planned === null ? "" : ` of ${formatCount(planned)}`;
  return `Warming up: step ${formatCount(step - (stage?.step ?? 0) + 1)}${of}${loss === null ? "" : `, loss ${formatNumber(loss)}`}.`;
}

/** Held-out results by step, as a column. */
export function evaluationColumn(
  evaluations: readonly PanelEvaluation[],
  metric: string,
  of: (row: PanelEvaluation) => number | undefined = ({ metrics }) => metrics[metric],
): Column {
  const byStep = new Map<number, number>();
  for (const row of evaluations) {
    const value = of(row);
    if (value !== undefined) byStep.set(row.step, value);
  }
  const steps = [...byStep.keys()].sort((a, b) => a - b);
  return { steps, values: steps.map((step) => byStep.get(step) ?? null) };
}

/** Lines of a chart, at most. */
const mostCriteria = 8;
const criterionMetric = /^reward\/(?!total\/)(.+?)\/(?!(?:errors|weight)$|component\/)(.+)$/;

/** How far each criterion of the reward terms is met: which ones no rollout meets, and which ones all have learned to meet. */
export function criteriaModel(view: RunView): ChartModel {
  const found = view.series.names.flatMap((metric) => {
    const [, term, name] = criterionMetric.exec(metric) ?? [];
    return term === undefined || name === undefined ? [] : [{ metric, term, name }];
  });
  const several = new Set(found.map(({ term }) => term)).size > 1;
  const parts = found.slice(0, mostCriteria).map(({ metric, term, name }) => ({
    metric,
    name: shortened(several ? `${term}: ${name}` : name),
  }));
  return { ...together("criteria", "fraction", parts)(view), limits: [0, 1] };
}

const shortened = (text: string): string => (text.length > 40 ? `${text.slice(0, 39)}…` : text);

export function stacked(
  view: RunView,
  what: string,
  parts: readonly { readonly style: LineStyle; readonly column: Column }[],
  { limits, absent = "unknown" }: { limits: ChartModel["limits"]; absent?: "zero" | "unknown" },
): ChartModel {
  const aligned = align(parts.map((part) => part.column));
  const values = absent === "zero" ? withZeros(aligned.values) : aligned.values;
  const tops = stack(values);
  const lines = parts.map(({ style }, i) =>
    line({ ...style, style: "area" }, values[i] ?? [], tops[i] ?? []),
  );
  return charted(view, what, aligned, lines, limits);
}

/** What groups teach: the mixed below, those of one outcome above, and over these, hatched, all that have no advantage. */
export function groupsModel(view: RunView): ChartModel {
  const columns = ["mixed", "all_right", "all_wrong", "zero_advantage"].map((name) =>
    view.series.column(`groups/${name}`),
  );
  const aligned = align(columns);
  const tops = stack(aligned.values.slice(0, 3));
  const area = (name: string, tone: Tone, i: number): ChartLine =>
    line({ name, tone, dash: i, format: "fraction", style: "area" }, aligned.values[i] ?? [], tops[i] ?? []);
  const silent = aligned.values[3] ?? [];
  const edge = silent.map((value) => (value === null ? null : 1 - value));
  return charted(
    view,
    "share of groups with a signal",
    aligned,
    [
      area("mixed", "neutral", 0),
      area("all right", "good", 1),
      area("all wrong", "bad", 2),
      line({ name: "no signal", tone: "plain", dash: 3, format: "fraction", style: "hatch" }, silent, edge),
    ],
    [0, 1],
  );
}

/** Between which values four in five of a step's rollouts lie; null where that was not recorded. */
export const middleBand = (
  low: readonly PlotValue[],
  high: readonly PlotValue[],
): NonNullable<ChartLine["band"]> | null =>
  blank(low) || blank(high) ? null : { name: "p10 to p90 of rollouts", low, high };

export function pair(
  what: string,
  left: LineStyle & { metric: string },
  right?: LineStyle & { metric: string },
  least?: number,
) {
  return (view: RunView): ChartModel => {
    const wanted = right === undefined ? [left] : [left, { ...right, axis: "right" as const }];
    const aligned = align(wanted.map(({ metric }) => view.series.column(metric)));
    return charted(
      view,
      what,
      aligned,
      wanted.map(({ metric: _, ...style }, i) => lineOf(style, aligned, i)),
      null,
      least,
    );
  };
}

/** Several metrics as lines; those that the run has not recorded are left out. */
export function together(
  what: string,
  format: Format,
  parts: readonly { readonly metric: string; readonly name: string; readonly axis?: ChartLine["axis"] }[],
  least?: number,
) {
  return (view: RunView): ChartModel => {
    const aligned = align(parts.map(({ metric }) => view.series.column(metric)));
    const lines = parts.map(({ metric: _, ...style }, i) =>
      lineOf({ ...style, tone: i, dash: i, format }, aligned, i),
    );
    return charted(view, what, aligned, lines, null, least);
  };
}
