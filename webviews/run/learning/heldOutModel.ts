/** From a run's evaluations to the chart of its held-out results, with where they are going. Pure. */
import type { CourseReport } from "../../../shared/run/forecastReport.ts";
import { align } from "../../shared/columns.ts";
import type { ChartLine, ChartModel, Tone } from "../../shared/chartModel.ts";
import { blank, charted, evaluationColumn, line, type RunView } from "../models.ts";

/** pass@1, pass@k and the greedy answer on held-out tasks, with the interval that so many tasks allow. */
export function heldOutModel(view: RunView): ChartModel {
  const names = [...new Set(view.evaluations.flatMap(({ metrics }) => Object.keys(metrics)))]
    .filter((name) => /^eval\/(pass@\d+|greedy)$/.test(name))
    .sort((a, b) => rank(a) - rank(b) || a.localeCompare(b, "en", { numeric: true }));
  const end = (name: string, side: 0 | 1) =>
    evaluationColumn(view.evaluations, name, ({ intervals }) => intervals?.[name]?.[side]);
  const { forecast } = view;
  const aligned = align([
    ...names.flatMap((name) => [evaluationColumn(view.evaluations, name), end(name, 0), end(name, 1)]),
    ...(forecast === undefined ? [] : curves(forecast)),
  ]);
  const lines = names.map((name, i): ChartLine => {
    const [values = [], low = [], high = []] = aligned.values.slice(3 * i, 3 * i + 3);
    const own = line(
      {
        name: name.slice("eval/".length),
        tone: tones[i % tones.length]!,
        dash: i,
        format: "fraction",
        style: "points",
      },
      values,
    );
    return blank(low) ? own : { ...own, band: { name: "95 %", low, high } };
  });
  if (forecast === undefined) return charted(view, "held-out results", aligned, lines, [0, 1]);
  const [middle = [], low = [], high = []] = aligned.values.slice(3 * names.length);
  const style = {
    name: `forecast of ${forecast.metric.slice("eval/".length)}`,
    tone: "plain",
    dash: 1,
  } as const;
  const curve = { ...line({ ...style, format: "fraction" }, middle), band: { name: "80 % band", low, high } };
  return { ...charted(view, "held-out results", aligned, [...lines, curve], [0, 1]), until: forecast.last };
}

/** The curve and the ends of its band, as columns. */
const curves = ({ course: { steps, low, middle, high } }: CourseReport) =>
  [middle, low, high].map((values) => ({ steps, values }));

const rank = (name: string): number => (name === "eval/greedy" ? 1 : 0);
const tones: readonly Tone[] = [1, 2, 0, 3, 4];
