/** `gradus runs export RUN --to report`: what a run did, as one Markdown page. */
import { ask, type Requester } from "../../../shared/daemon/request.ts";
import { metricNamed } from "../../../shared/metrics/metrics.ts";
import {
  evaluationsQuery,
  eventsQuery,
  metricsNames,
  metricsSeries,
  rolloutsQuery,
  runsShow,
  type EvaluationRow,
  type RunDetail,
  type Series,
} from "../../../shared/protocol/protocol.ts";
import type { RolloutRow } from "../../../shared/rollouts/rollouts.ts";
import { readRunFile } from "../../run/loop/files.ts";
import { assignment, readSettings } from "../../run/loop/settings.ts";
import { sparkline } from "../../../shared/lib/sparkline.ts";
import { duration, thinned } from "../text/terminal.ts";

/** Everything that the page is made of. */
export interface Report {
  readonly run: RunDetail;
  /** Values on top of the config's: from the command line, then those set while it was live. */
  readonly set: readonly string[];
  readonly evaluations: readonly EvaluationRow[];
  readonly series: readonly Series[];
  readonly events: readonly { readonly step: number; readonly severity: string; readonly message: string }[];
  /** Greedy answers to the same held-out tasks, at the first evaluation and at the last. */
  readonly before: readonly RolloutRow[];
  readonly after: readonly RolloutRow[];
}

const shownAnswers = 5;
const shownEvents = 20;
const sparkWidth = 40;

export async function readReport(connection: Requester, id: string): Promise<Report> {
  const run = await ask(connection, runsShow, { run: id });
  const { evaluations } = await ask(connection, evaluationsQuery, { run: id });
  const { names } = await ask(connection, metricsNames, { run: id });
  const metrics = names.filter((name) => !name.startsWith("eval/"));
  const { series } =
    metrics.length === 0
      ? { series: [] }
      : await ask(connection, metricsSeries, { run: id, metrics, maxPoints: 400 });
  const { events } = await ask(connection, eventsQuery, { run: id, limit: 1000 });
  const answers = async (evaluation: EvaluationRow | undefined): Promise<readonly RolloutRow[]> => {
    if (evaluation === undefined) return [];
    const where = 'use == "evaluate" && index == 0';
    const asked = { run: id, step: evaluation.step, where, limit: shownAnswers, tokens: false };
    return (await ask(connection, rolloutsQuery, asked)).rollouts;
  };
  const [before, after] = [await answers(evaluations[0]), await answers(evaluations.at(-1))];
  const set = [
    ...readRunFile(run.folder).set,
    ...readSettings(run.folder).map((one) => `${assignment(one)} (from step ${one.step + 1})`),
  ];
  return { run, set, evaluations, series, events, before, after: evaluations.length > 1 ? after : [] };
}

const number = (value: number | null | undefined): string =>
  value === null || value === undefined ? "" : Number(value.toPrecision(4)).toString();
const cell = (text: string): string => text.replaceAll("|", "\\|").replaceAll("\n", "⏎");
const table = (head: readonly string[], rows: readonly (readonly string[])[]): string[] =>
  [head, head.map(() => "---"), ...rows].map((row) => `| ${row.map(cell).join(" | ")} |`);
const fenced = (text: string, language = ""): string[] => {
  // Longer than any fence inside, so that the text cannot end the block.
  const longest = Math.max(2, ...[...text.matchAll(/`+/g)].map(([found]) => found.length));
  const fence = "`".repeat(longest + 1);
  return [`${fence}${language}`, text.trimEnd(), fence];
};

function facts({
  id,
  status,
  message,
  startedAt,
  endedAt,
  step,
  steps,
  backend,
  git,
  seed,
  verdict,
  origin,
}: Facts): string[] {
  const progress = origin === undefined ? `${step + 1} of ${steps} steps` : `${step} steps`;
  const seconds =
    endedAt === null ? undefined : (new Date(endedAt).getTime() - new Date(startedAt).getTime()) / 1000;
  return [
    `${id}: ${status}${message === null ? "" : ` (${message})`}, ${progress}${seconds === undefined ? "" : ` in ${duration(seconds)}`}${origin === undefined ? `, seed ${seed}` : ""}${backend === null ? "" : `, ${origin === undefined ? "on" : "imported from"} ${backend}`}.`,
    ...(verdict === undefined ? [] : [`**Verdict:** ${verdict.headline}`]),
    ...(git === null ? [] : [`Sources: ${git.commit}${git.dirty ? " with uncommitted changes" : ""}.`]),
  ];
}
type Facts = Omit<RunDetail, "seed"> & { readonly seed: string };

function measured(evaluations: readonly EvaluationRow[]): string[] {
  const [first, last] = [evaluations[0], evaluations.at(-1)];
  if (first === undefined || last === undefined) return ["The run was not evaluated."];
  const names = Object.keys(last.metrics);
  return [
    `Always the same held-out tasks, after step ${first.step} and after step ${last.step}; ${evaluations.length} evaluations in total.`,
    "",
    ...table(
      ["metric", "first", "last", "change", "trend"],
      names.map((name) => {
        const [from, to] = [first.metrics[name], last.metrics[name]];
        const change = from === undefined || to === undefined ? undefined : to - from;
        const trend = evaluations.map(({ metrics }) => metrics[name] ?? Number.NaN);
        return [
          `\`${name}\``,
          number(from),
          number(to),
          change === undefined ? "" : `${change > 0 ? "+" : ""}${number(change)}`,
          sparkline(trend, sparkWidth),
        ];
      }),
    ),
  ];
}

function progress(series: readonly Series[]): string[] {
  const rows = series.flatMap(({ metric, values }) => {
    const known = values.filter((value) => value !== null);
    if (known.length === 0) return [];
    const numbers = values.map((value) => value ?? Number.NaN);
    const unit = metricNamed(metric)?.unit ?? "";
    return [
      [
        `\`${metric}\`${unit === "" ? "" : ` (${unit})`}`,
        number(known[0]),
        number(known.at(-1)),
        number(Math.min(...known)),
        number(Math.max(...known)),
        sparkline(thinned(numbers, sparkWidth), sparkWidth),
      ],
    ];
  });
  return table(["metric", "first", "last", "least", "most", "trend"], rows);
}

function answers({ before, after }: Report): string[] {
  if (before.length === 0) return [];
  const later = new Map(after.map((row) => [row.group, row]));
  const said = (row: RolloutRow | undefined): string =>
    row === undefined
      ? ""
      : `\`${(row.response ?? "").replaceAll("`", "'")} \` (${number(Number(row.reward ?? Number.NaN))})`;
  return [
    "",
    "## Answers",
    "",
    "Greedy answers to held-out tasks, with their reward in parentheses.",
    "",
    ...table(
      ["prompt", "first evaluation", "last evaluation"],
      before.map((row) => [row.prompt ?? "", said(row), said(later.get(row.group))]),
    ),
  ];
}

/** The whole page. Pure. */
export function reportText(report: Report): string {
  const { run, set, evaluations, series, events } = report;
  const problems = events.filter(({ severity }) => severity !== "info");
  return [
    `# ${run.name}`,
    "",
    ...facts({ ...run, seed: String(run.config["seed"] ?? "") }),
    "",
    "## Held-out metrics",
    "",
    ...measured(evaluations),
    ...answers(report),
    "",
    "## Progress",
    "",
    ...progress(series),
    ...(problems.length === 0
      ? []
      : [
          "",
          "## Warnings and errors",
          "",
          ...problems
            .slice(0, shownEvents)
            .map(({ step, severity, message }) => `- step ${step}, ${severity}: ${message}`),
          ...(problems.length > shownEvents ? [`- … and ${problems.length - shownEvents} more`] : []),
        ]),
    "",
    "## Config",
    "",
    ...(set.length === 0 ? [] : [`With ${set.map((one) => `\`${one}\``).join(", ")}.`, ""]),
    ...fenced(run.authored, "yaml"),
    "",
  ].join("\n");
}
