/** Parts of a run's page: turnover, forecast and boundary, readable without a script. */
import { plural } from "../../../../shared/lib/format.ts";
import type { RolloutRow } from "../../../../shared/rollouts/rollouts.ts";
import {
  crossingSentence,
  greedySentence,
  solvedSentence,
  type BoundaryReport,
  type MeasuredBoundary,
} from "../../../../shared/run/boundaryReport.ts";
import { forecastSentence, type CourseReport } from "../../../../shared/run/forecastReport.ts";
import type { Turnover } from "../../../../shared/run/turnover.ts";
import { escaped, type ChartOf, type ChartSeries } from "./chart.ts";
import type { Findings, ForgottenAnswers } from "./findings.ts";

/** In the chart of held-out results: the fit, and where it goes. */
export const forecastSeries = ({ metric, course }: CourseReport): ChartSeries => ({
  name: `forecast of ${metric.slice("eval/".length)}, 80 % band`,
  steps: course.steps,
  values: course.middle,
  band: course,
  smooth: true,
});

export const findingCharts = ({ turnover, boundary }: Findings): ChartOf[] => [
  ...(turnover === undefined ? [] : [turnoverChart(turnover)]),
  ...(boundary?.boundary == null ? [] : [boundaryChart(boundary, boundary.boundary)]),
];

const turnoverChart = ({ course }: Turnover): ChartOf => ({
  title: "Held-out tasks: right, and lost again",
  points: true,
  series: (["right", "lost"] as const).map((name) => ({
    name: name === "right" ? "right" : "right before, and lost",
    steps: course.map(({ step }) => step),
    values: course.map((at) => at[name]),
  })),
});

function boundaryChart({ own, other }: BoundaryReport, { curve, crossing }: MeasuredBoundary): ChartOf {
  const ks = curve.map(({ k }) => k);
  return {
    title: "pass@k at the first evaluation and at the last",
    points: true,
    along: { name: "k =", log: true },
    series: [
      { name: `step ${other.step}`, steps: ks, values: curve.map((at) => at.other) },
      { name: `step ${own.step}`, steps: ks, values: curve.map((at) => at.own) },
    ],
    ...(crossing !== null && { mark: { at: crossing, text: `cross at k = ${crossing}` } }),
  };
}

export const findingParts = ({ turnover, forgotten = [], forecast, boundary }: Findings): string =>
  [
    ...(forecast === undefined ? [] : [`<p>${escaped(forecastSentence(forecast))}</p>`]),
    ...(boundary === undefined ? [] : [boundaryPart(boundary)]),
    ...(turnover === undefined ? [] : [turnoverPart(turnover, forgotten)]),
  ].join("\n");

function boundaryPart({ boundary, greedy, own, other }: BoundaryReport): string {
  const names = { own: `step ${own.step}`, other: `step ${other.step}` };
  if (boundary === null) return "";
  const said = [
    solvedSentence(boundary, names),
    crossingSentence(boundary, names),
    ...(greedy === null ? [] : [greedySentence(greedy, names)]),
  ];
  return `<h2>What it can do within its samples</h2>${said.map((text) => `<p>${escaped(text)}</p>`).join("")}`;
}

function turnoverPart(
  { learned, kept, forgotten, tasks, first, last }: Turnover,
  shown: readonly ForgottenAnswers[],
): string {
  const sum = `${learned.length} learned, ${kept} kept, ${forgotten.length} forgotten of ${plural(tasks, "held-out task")} between the evaluations at step ${first} and at step ${last}.`;
  const head = `<h2>Learned and forgotten</h2><p>${escaped(sum)}</p>`;
  if (shown.length === 0) return head;
  const rows = shown.map(
    ({ task, arm, solved, lost, right, wrong }) =>
      `<tr><td><pre>${escaped(right?.prompt ?? task)}</pre><small>${escaped(arm)}</small></td><td>${answer(right, `step ${solved}`)}</td><td>${answer(wrong, `step ${lost}`)}</td></tr>`,
  );
  const left = forgotten.length - shown.length;
  return `${head}<table><thead><tr><th>forgotten task</th><th>last right answer</th><th>first wrong answer</th></tr></thead><tbody>${rows.join("")}</tbody></table>${left === 0 ? "" : `<p class="facts">${left} more: gradus runs turnover lists them.</p>`}`;
}

const answer = (row: RolloutRow | undefined, at: string): string =>
  `${row === undefined ? "" : `<pre>${escaped(row.response ?? "")}</pre>`}<small>${escaped(at)}${row === undefined ? ", answer not kept" : ""}</small>`;
