/** From a run's series and its counted groups to the charts of its curriculum: pure. */
import type { CurriculumOverview } from "../../../shared/protocol/protocol.ts";
import { plural } from "../../../shared/lib/format.ts";
import type { ChartModel, ChartLine } from "../../shared/chartModel.ts";
import { align, withZeros } from "../../shared/columns.ts";
import type { Column } from "../../shared/column.ts";
import type { RunSeries } from "../../shared/series.ts";
import { withinPossible } from "../learning/rewardRange.ts";
import { blank, charted, lineOf, stacked, type LineStyle, type RunView } from "../models.ts";

const mostArms = 6;
const armOf = (metric: string): string | undefined => /^curriculum\/(.+)\/share$/.exec(metric)?.[1];

/** Arms in natural order: countdown/3 before countdown/10. */
function armNames(series: RunSeries): readonly string[] {
  const arms = series.names.flatMap((name) => armOf(name) ?? []);
  return arms.sort((a, b) => a.localeCompare(b, "en", { numeric: true }));
}

function sumOf(columns: readonly Column[]): Column {
  const { steps, begins, values } = align(columns);
  const filled = withZeros(values);
  const width = Math.max(1, ...columns.map((column) => column.width ?? 1));
  return {
    steps,
    begins,
    width,
    values: steps.map((_, i) => filled.reduce((sum, column) => sum + (column[i] ?? 0), 0)),
  };
}

export function curriculumModel(view: RunView): ChartModel {
  const { series } = view;
  const arms = armNames(series);
  const drawn = arms.length <= mostArms ? arms : arms.slice(0, mostArms - 1);
  const rest = arms.slice(drawn.length);
  const parts = drawn.map((name, i) => ({
    style: { name, tone: i, dash: i, format: "fraction" } satisfies LineStyle,
    column: series.column(`curriculum/${name}/share`),
  }));
  if (rest.length > 0)
    parts.push({
      style: {
        name: plural(rest.length, "other arm"),
        tone: drawn.length,
        dash: drawn.length,
        format: "fraction",
      },
      column: sumOf(rest.map((name) => series.column(`curriculum/${name}/share`))),
    });
  return stacked(view, "curriculum's share per arm", parts, { limits: [0, 1], absent: "zero" });
}

/** What is believed of each arm, and how surely where the estimator says so. */
export function estimateModel(view: RunView): ChartModel {
  const { series } = view;
  const arms = armNames(series).slice(0, mostArms);
  const columns = arms.flatMap((arm) => [
    series.column(`curriculum/${arm}/estimate`),
    series.column(`curriculum/${arm}/spread`),
  ]);
  const aligned = align(columns);
  const lines = arms.map((arm, i): ChartLine => {
    const [belief = [], spread = []] = [aligned.values[2 * i], aligned.values[2 * i + 1]];
    const own = lineOf({ name: arm, tone: i, dash: i, format: "number" }, aligned, 2 * i);
    const band = withinPossible(belief, spread, [], []);
    return blank(spread) ? own : { ...own, band: { name: "± std", ...band } };
  });
  return charted(view, "estimate per arm", aligned, lines);
}

/** Groups drawn, refills included, and those that trained. */
export function admissionModel(view: RunView): ChartModel {
  const columns = ["groups/drawn", "groups/admitted"].map((metric) => view.series.column(metric));
  const aligned = align(columns);
  return charted(view, "count of groups", aligned, [
    lineOf({ name: "drawn", tone: 0, dash: 0, format: "number" }, aligned, 0),
    lineOf({ name: "trained", tone: 1, dash: 1, format: "number" }, aligned, 1),
  ]);
}

/** Tokens by what came of their group. Of a column of several steps, the mean of a step. */
export function spentModel(view: RunView): ChartModel {
  const { overview } = view;
  const columns = overview?.columns.filter(({ tokens }) => tokens > 0) ?? [];
  const { from = 0, to = 0, width = 1 } = overview ?? {};
  const steps = columns.map(({ column }) => from + column * width);
  const perStep = (of: (column: CurriculumOverview["columns"][number]) => number): Column => ({
    steps,
    values: columns.map((one, i) => of(one) / Math.min(width, to - (steps[i] ?? 0) + 1)),
  });
  const style = (name: string, tone: LineStyle["tone"], dash: number): LineStyle => ({
    name,
    tone,
    dash,
    format: "tokens",
  });
  const parts = [
    {
      style: style("mixed", "neutral", 0),
      column: perStep(({ tokens, deadTokens, exhaustedTokens }) => tokens - deadTokens - exhaustedTokens),
    },
    { style: style("all right", "good", 1), column: perStep(({ exhaustedTokens }) => exhaustedTokens) },
    { style: style("all wrong", "bad", 2), column: perStep(({ deadTokens }) => deadTokens) },
  ];
  return stacked(view, "count of tokens by their group's outcome", parts, { limits: null });
}
