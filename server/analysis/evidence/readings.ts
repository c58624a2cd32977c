/** A config's evidence as the language server shows it: diagnostics on lines, notes after them, Markdown in hovers. */
import type { EvidenceDiagnostic, EvidenceNote, LastRun } from "./types.ts";
import { formatBytes, formatFraction, formatNumber } from "../../../shared/lib/format.ts";
import { metricNamed } from "../../../shared/metrics/metrics.ts";
import type { RunSummary } from "../../../shared/protocol/protocol.ts";
import { isLive } from "../../../shared/protocol/runStatus.ts";
import { trendOf } from "../../../shared/lib/trend.ts";
import type { RunSighting, RunSightings } from "./index.ts";
import { finite, median, sparkline } from "./numbers.ts";
import { quickFix } from "./quickFix.ts";
import { endOfLine, holding, rangeOf, type Text } from "./place.ts";
import type { DiagnosticSighting } from "./kind.ts";
import type { MetricPoints, RunRecord } from "./record.ts";
import { cut, type RunView } from "./view.ts";

export interface Readings {
  readonly diagnostics: readonly EvidenceDiagnostic[];
  readonly notes: readonly EvidenceNote[];
  hover(key: string): string | undefined;
}

export function readings(seen: RunSightings, config: Text, file: string): Readings {
  const { summary } = seen.view;
  const held = holding(seen, config);
  const where = (at: string): string => seen.view.at(at);
  const diagnostics = held.flatMap((sighting): EvidenceDiagnostic[] => {
    if (sighting.level !== "diagnostic") return [];
    const { kind, message, at, rollouts, severity = "info", places = [], fixes = [] } = sighting;
    return [
      {
        severity,
        rule: kind,
        message: `${message} (${runName(summary)})`,
        key: where(at),
        file,
        range: rangeOf(config.root, where(at)),
        fixes: fixes.flatMap((fix) => quickFix(fix, config)),
        ...(places.length === 0 ? {} : { related: places.map(relatedTo) }),
        ...(rollouts === undefined ? {} : { rollouts: { run: summary.id, name: summary.name, ...rollouts } }),
      },
    ];
  });
  return {
    diagnostics,
    notes: notesOf(seen, held, config),
    hover: (key) => hoverOf(seen, held, key),
  };
}

function relatedTo({
  file,
  uri,
  line,
  column,
  message,
}: NonNullable<DiagnosticSighting["places"]>[number]): NonNullable<EvidenceDiagnostic["related"]>[number] {
  const start = { line: line - 1, character: column - 1 };
  return { file, uri, range: { start, end: start }, message };
}

const runName = ({ status, step }: RunSummary): string =>
  isLive(status) ? `live run, step ${step}` : "last run";

/** One note a line says the most in the least: several of one line are joined. */
function notesOf(seen: RunSightings, held: readonly RunSighting[], { root, text }: Text): EvidenceNote[] {
  const byLine = new Map<number, EvidenceNote>();
  const flagged = new Set(
    held.flatMap(({ level, at }) => (level === "diagnostic" ? [seen.view.at(at)] : [])),
  );
  for (const sighting of held) {
    if (sighting.level !== "note") continue;
    const key = seen.view.at(sighting.at);
    // The diagnostic on the same value says more.
    if (flagged.has(key) && sighting.kind === "run-term-mean") continue;
    const { line } = rangeOf(root, key).start;
    const before = byLine.get(line);
    byLine.set(line, {
      key,
      at: endOfLine(text, line),
      label: before === undefined ? sighting.label : `${before.label} · ${sighting.label}`,
      detail: [before?.detail, drawn(seen.view, sighting)].filter((part) => part !== undefined).join("\n\n"),
    });
  }
  return [...byLine.values()];
}

/** A sighting is drawn once, and asked for with every keystroke. */
const drawings = new WeakMap<RunSighting, string>();

function drawn(view: RunView, sighting: RunSighting): string {
  const known = drawings.get(sighting) ?? draw(view, sighting);
  drawings.set(sighting, known);
  return known;
}

function draw(view: RunView, { message, metric }: RunSighting): string {
  const points = metric === undefined ? undefined : view.record.series[metric];
  if (metric === undefined || points === undefined || points.values.length < 2) return message;
  return `${message}\n\n${course(metric, points)}`;
}

function course(metric: string, points: MetricPoints): string {
  const known = finite(points);
  if (known.length === 0) return "";
  const [low, high] = [Math.min(...known), Math.max(...known)];
  const write = { bytes: formatBytes, fraction: formatFraction, other: formatNumber }[unitOf(metric)];
  return `\`${metric}\` \`${sparkline(points.values)}\` ${write(low)} to ${write(high)}, steps ${points.steps[0]} to ${points.steps.at(-1)}`;
}

function unitOf(metric: string): "bytes" | "fraction" | "other" {
  const unit = metricNamed(metric)?.unit;
  return unit === "bytes" || unit === "fraction" ? unit : "other";
}

/** What was seen of a value, and of it in the stage that ran last. */
function hoverOf({ view }: RunSightings, held: readonly RunSighting[], key: string): string | undefined {
  const own = held.filter(({ at }) => at === key || view.at(at) === key);
  if (own.length === 0) return undefined;
  const flagged = own.some(({ level }) => level === "diagnostic");
  const said = own
    .filter(({ kind }) => !flagged || kind !== "run-term-mean")
    .map((sighting) => drawn(view, sighting));
  const name = runName(view.summary);
  return [
    `**${name.charAt(0).toUpperCase()}${name.slice(1)}** of \`${view.summary.name}\``,
    ...new Set(said),
  ].join("\n\n");
}

export function lastRunOf(summary: RunSummary, record: RunRecord | null): LastRun {
  const { id, name, status, step, steps, stage } = summary;
  const own = record?.summary.id === id ? record : null;
  const span = own === null ? null : spanNamed(own, stage);
  const perStep = (metric: string): number | null => {
    const points = span === null ? undefined : own?.series[metric];
    if (points === undefined || span === null) return null;
    const values = finite(cut(points, span.from, span.to)).slice(-50);
    return values.length === 0 ? null : median(values);
  };
  return {
    run: id,
    name,
    status,
    step,
    steps,
    stage,
    headline: own === null ? null : headlineOf(own),
    secondsPerStep: perStep("time/total"),
    tokensPerStep: perStep("tokens/generated"),
  };
}

/** Of a stage of any kind; null: the record was made before it began, and what it has is of others. */
function spanNamed({ stages }: RunRecord, name: string | null): { from: number; to: number } | null {
  const at = stages.findLastIndex((stage) => stage.name === name);
  if (at < 0) return stages.length === 0 ? { from: 0, to: Number.POSITIVE_INFINITY } : null;
  return { from: stages[at]!.step, to: stages[at + 1]?.step ?? Number.POSITIVE_INFINITY };
}

/** What evaluations say where there are several, else the reward. */
function headlineOf({ series }: RunRecord): LastRun["headline"] {
  for (const metric of ["eval/pass@1", "reward/total"]) {
    const values = finite(series[metric] ?? { steps: new Float64Array(), values: new Float64Array() });
    const value = values.at(-1);
    if (value !== undefined) return { metric, value, trend: trendOf(values) };
  }
  return null;
}
