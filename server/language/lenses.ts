/** What can be done with a config, above it, and with a metric, above the line that waits for it. */
import type { CodeLens, Command } from "vscode-languageserver";
import { commands } from "../../shared/editor/contributions.ts";
import { formatFraction, formatNumber } from "../../shared/lib/format.ts";
import { metricNamed } from "../../shared/metrics/metrics.ts";
import { chartOf } from "../../shared/editor/runPanel.ts";
import { isLive } from "../../shared/protocol/runStatus.ts";
import { arrows } from "../../shared/lib/trend.ts";
import { child, textOf, type SourceNode } from "../config/text/node.ts";
import type { OpenConfig } from "./documents.ts";
import type { LastRun } from "../analysis/evidence/types.ts";
import type { MetricUse } from "./names/occurrences.ts";

/** Above the first key. */
function lensLine(root: SourceNode | undefined): number {
  if (root?.kind !== "map" || root.entries.size === 0) return 0;
  return Math.min(...[...root.entries.values()].map(({ key }) => key.range.start.line));
}

const lens = (line: number, command: Command): CodeLens => ({
  range: { start: { line, character: 0 }, end: { line, character: 0 } },
  command,
});

/** ▶ Run · Validate · Last run: reward 0.41 ↑ */
export function runLenses({ root, uri }: OpenConfig, last: LastRun | undefined): CodeLens[] {
  const line = lensLine(root);
  const run: Command =
    last !== undefined && isLive(last.status)
      ? { title: "■ Stop", command: commands.runStop, arguments: [last.run] }
      : { title: "▶ Run", command: commands.runStart, arguments: [uri] };
  return [
    lens(line, run),
    lens(line, { title: "Validate", command: commands.configValidate, arguments: [uri] }),
    ...(last === undefined
      ? []
      : [lens(line, { title: lastRunTitle(last), command: commands.runOpen, arguments: [last.run] })]),
  ];
}

export function lastRunTitle({ status, step, steps, headline }: LastRun): string {
  const numbers =
    headline === null
      ? ""
      : `${headline.metric.replace(/^(reward|eval)\//, "").replace("total", "reward")} ${valueText(headline)} ${arrows[headline.trend]}`;
  if (isLive(status)) return `Step ${step + 1} of ${steps}${numbers === "" ? "" : `: ${numbers}`}`;
  const said = [...(status === "finished" && numbers !== "" ? [] : [status]), numbers];
  return `Last run: ${said.filter((part) => part !== "").join(", ")}`;
}

const valueText = ({ metric, value }: { readonly metric: string; readonly value: number }): string =>
  metricNamed(metric)?.unit === "fraction" ? formatFraction(value, 1) : formatNumber(value);

/** Where something waits for a metric that the run panel draws. */
export const chartLenses = (metrics: readonly MetricUse[], { uri }: OpenConfig): CodeLens[] =>
  metrics
    .filter(({ name }) => chartOf(name) !== undefined)
    .map(({ name, range }) =>
      lens(range.start.line, {
        title: `Chart of ${name}`,
        command: commands.runOpenChart,
        arguments: [uri, name],
      }),
    );

/** Methods that score as a person would who reads the answer. */
const judges: ReadonlySet<string> = new Set(["rubric", "reward_model"]);

/** Above a reward term that is a judge, where the config has a run: label its rollouts. */
export function judgeLenses({ root }: OpenConfig, { run }: LastRun): CodeLens[] {
  const terms = child(child(root, "reward"), "terms");
  if (terms?.kind !== "map") return [];
  return [...terms.entries].flatMap(([term, { key, value }]) => {
    const method = textOf(value) ?? textOf(child(value, "use"));
    if (method === undefined || !judges.has(method)) return [];
    const title = "Label Rollouts for This Judge";
    return [lens(key.range.start.line, { title, command: commands.judgeLabel, arguments: [run, term] })];
  });
}
