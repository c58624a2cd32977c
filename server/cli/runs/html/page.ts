/** `gradus runs export RUN --html`: a run on one page that needs no other file, no network and no script. */
import { formatFraction, formatNumber } from "../../../../shared/lib/format.ts";
import type { EvaluationRow, Series } from "../../../../shared/protocol/protocol.ts";
import { heldOutNames } from "../../../../shared/run/outcome.ts";
import { isAlarm, type Verdict } from "../../../../shared/run/verdict.ts";
import { fromWire, type RolloutRow } from "../../../../shared/rollouts/rollouts.ts";
import { duration } from "../../text/terminal.ts";
import type { Report } from "../reportRun.ts";
import { chart, escaped, type ChartOf, type ChartSeries } from "./chart.ts";
import type { Findings } from "./findings.ts";
import { findingCharts, findingParts, forecastSeries } from "./findingParts.ts";
import { style } from "./style.ts";

export function reportPage(report: Report, verdict: Verdict | null, findings: Findings = {}): string {
  const { run } = report;
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escaped(run.name)}</title>
<style>${style}</style>
</head>
<body>
<h1>${escaped(run.name)}</h1>
<p class="facts">${facts(report).map(escaped).join(" · ")}</p>
${verdict === null ? "" : verdictPart(verdict)}
<section class="charts">
${[...charts(report, findings), ...findingCharts(findings)].map(chart).join("\n")}
</section>
${heldOut(report.evaluations)}
${findingParts(findings)}
${answers(report)}
<details><summary>Config</summary><pre>${escaped([...report.set.map((set) => `# --set ${set}`), run.authored].join("\n"))}</pre></details>
</body>
</html>
`;
}

function facts({ run }: Report): string[] {
  const { id, status, startedAt, endedAt, step, steps, origin, backend, git } = run;
  const seconds = endedAt === null ? null : (Date.parse(endedAt) - Date.parse(startedAt)) / 1000;
  return [
    id,
    status,
    origin === undefined ? `${step + 1} of ${steps} steps` : `${step} steps`,
    startedAt.slice(0, 16).replace("T", " "),
    ...(seconds === null ? [] : [duration(seconds)]),
    ...(run.seed === undefined ? [] : [`seed ${run.seed}`]),
    ...(backend === null ? [] : [`${origin === undefined ? "on" : "imported from"} ${backend}`]),
    ...(git === null ? [] : [`${git.commit.slice(0, 8)}${git.dirty ? " with uncommitted changes" : ""}`]),
  ];
}

function verdictPart({ state, headline, details, against, fixes, dismissed, reliability }: Verdict): string {
  const tone = isAlarm(state) ? "alarm" : state === "learning" ? "good" : "open";
  const lines = [
    ...details,
    ...(against === null ? [] : [`Against it: ${against}`]),
    ...(dismissed === undefined ? [] : [`Dismissed: ${dismissed.reason}`]),
    ...(reliability === null ? [] : [reliability]),
  ];
  const tried = fixes.map(
    ({ title, effect, leaves }) =>
      `<li><b>${marked(title)}</b>: ${marked(effect ?? "its effect is unknown until tried")}.${leaves === null ? "" : ` ${marked(leaves)}`}</li>`,
  );
  return `<section class="verdict ${tone}"><h2>${marked(headline)}</h2>${lines.map((line) => `<p>${marked(line)}</p>`).join("")}${tried.length === 0 ? "" : `<ul>${tried.join("")}</ul>`}</section>`;
}

/** Terms are named as in Markdown. */
const marked = (text: string): string => escaped(text).replace(/`([^`]+)`/g, "<code>$1</code>");

const named = ({ series }: Report, pattern: RegExp, rename = (name: string): string => name): ChartSeries[] =>
  series.filter(({ metric }) => pattern.test(metric)).map((one) => lineOf(one, rename(one.metric)));
const lineOf = ({ steps, values }: Series, name: string): ChartSeries => ({ name, steps, values });

function charts(report: Report, { forecast }: Findings): ChartOf[] {
  const last = (name: string): string => name.split("/").slice(1).join("/");
  const { evaluations } = report;
  return [
    { title: "Reward", series: named(report, /^reward\/total$/, () => "training reward") },
    { title: "Reward terms", series: named(report, /^reward\/(?!total$)[^/]+$/, last) },
    {
      title: "Held-out",
      points: true,
      limits: [0, 1],
      series: [
        ...heldOutNames(evaluations.at(-1)?.metrics ?? {}).map((name) => ({
          name: name.slice("eval/".length),
          steps: evaluations.map(({ step }) => step),
          values: evaluations.map(({ metrics }) => metrics[name] ?? null),
        })),
        ...(forecast === undefined ? [] : [forecastSeries(forecast)]),
      ],
    },
    {
      title: "Groups",
      limits: [0, 1],
      series: named(report, /^groups\/(all_right|mixed|all_wrong|zero_advantage)$/, (name) =>
        last(name).replaceAll("_", " "),
      ),
    },
    { title: "Response length, tokens", series: named(report, /^rollout\/length$/, last) },
    { title: "Entropy, nats", series: named(report, /^policy\/entropy$/, last) },
    { title: "Gradient norm", series: named(report, /^update\/grad_norm$/, () => "norm") },
    {
      title: "Curriculum, share of groups",
      limits: [0, 1],
      series: named(report, /^curriculum\/.+\/share$/, last),
    },
  ];
}

function heldOut(evaluations: readonly EvaluationRow[]): string {
  const [first, later] = [evaluations[0], evaluations.at(-1)];
  if (first === undefined || later === undefined) return "";
  const rows = heldOutNames(later.metrics).map((name) => {
    const [from, to] = [first.metrics[name], later.metrics[name]];
    return `<tr><td>${escaped(name.slice("eval/".length))}</td><td>${formatFraction(from, 1)}</td><td>${formatFraction(to, 1)}</td></tr>`;
  });
  return `<h2>Held-out tasks</h2><table><thead><tr><th>metric</th><th>step ${first.step}</th><th>step ${later.step}</th></tr></thead><tbody>${rows.join("")}</tbody></table>`;
}

function answers({ before, after }: Report): string {
  if (before.length === 0) return "";
  const said = (row: RolloutRow | undefined): string =>
    row === undefined
      ? ""
      : `<pre>${escaped(row.response ?? "")}</pre><small>reward ${formatNumber(row.reward == null ? null : fromWire(row.reward))}</small>`;
  const rows = before.map(
    (row, i) =>
      `<tr><td><pre>${escaped(row.prompt ?? "")}</pre></td><td>${said(row)}</td><td>${said(after[i])}</td></tr>`,
  );
  return `<h2>Greedy answers</h2><table><thead><tr><th>prompt</th><th>first evaluation</th><th>last evaluation</th></tr></thead><tbody>${rows.join("")}</tbody></table>`;
}
