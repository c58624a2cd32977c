/** The runs view as plain nodes: what a row says, how it looks, what lies under it. Pure. */
import {
  isWatched,
  progressRatio,
  progressText,
  stateWord,
  trainedText,
} from "../../../shared/run/origin.ts";
import {
  formatAge,
  formatBytes,
  formatFraction,
  formatNumber,
  formatSeconds,
  plural,
} from "../../../shared/lib/format.ts";
import type { EvaluationRow, RunDetail, RunSummary } from "../../../shared/protocol/protocol.ts";
import { isLive, type RunStatus } from "../../../shared/protocol/runStatus.ts";
import { sparkline } from "../../../shared/lib/sparkline.ts";
import { plainMarkdown } from "../../../shared/lib/visibleText.ts";
import { alarmOf, isAlarm, plainText, type VerdictBrief } from "../../../shared/run/verdict.ts";
import { familyText, type Family } from "./families.ts";
import { isReading } from "./model.ts";

export type RunNode =
  | { readonly kind: "family"; readonly run: string; readonly family: Family; readonly open: boolean }
  | {
      readonly kind: "run";
      readonly run: RunSummary;
      /** Course of its reward; empty: unknown. */
      readonly spark?: readonly number[];
      /** Whether others were forked from it: it is open then. */
      readonly forks?: boolean;
    }
  | {
      readonly kind: "stage";
      readonly run: string;
      readonly name: string;
      readonly stageKind: string;
      readonly from: number;
      readonly to: number;
    }
  | { readonly kind: "steps"; readonly run: string; readonly from: number; readonly to: number }
  | { readonly kind: "step"; readonly run: string; readonly step: number }
  | { readonly kind: "evaluations"; readonly run: string; readonly rows: readonly EvaluationRow[] }
  | { readonly kind: "evaluation"; readonly run: string; readonly row: EvaluationRow }
  | { readonly kind: "checkpoints"; readonly run: string; readonly checkpoints: RunDetail["checkpoints"] }
  | {
      readonly kind: "checkpoint";
      readonly run: string;
      readonly step: number;
      readonly path: string;
      readonly bytes: number;
    };

interface TreeRow {
  readonly id: string;
  readonly label: string;
  readonly description: string;
  /** A codicon, and the theme colour it takes where it has one. */
  readonly icon: string;
  readonly color: string | null;
  readonly context: string;
  readonly expands: boolean;
  /** What a screen reader says for the row. */
  readonly spoken: string;
}

const icons: Readonly<
  Record<
    RunStatus | "watching",
    { readonly icon: string; readonly color: string | null; readonly word: string }
  >
> = {
  watching: { icon: "eye", color: null, word: "watching" },
  starting: { icon: "loading~spin", color: "charts.blue", word: "starting" },
  running: { icon: "play-circle", color: "charts.green", word: "running" },
  paused: { icon: "debug-pause", color: "charts.orange", word: "paused" },
  stopping: { icon: "loading~spin", color: "charts.blue", word: "stopping" },
  finished: { icon: "pass", color: "testing.iconPassed", word: "finished" },
  stopped: { icon: "circle-slash", color: "descriptionForeground", word: "stopped" },
  failed: { icon: "error", color: "testing.iconFailed", word: "failed" },
  interrupted: { icon: "warning", color: "charts.orange", word: "interrupted" },
  reading: { icon: "loading~spin", color: "descriptionForeground", word: "being read" },
};

/** What is wrong with a run, in a few words: "nothing trained", "collapsed at 318"; empty: nothing that its numbers tell. */
export const warningText = (run: RunSummary): string => plainText(alarmOf(run)?.label ?? "");

/** "starter, still training: Collapsed at step 318 because of brevity." */
export const alarmText = ({ name }: RunSummary, { headline }: VerdictBrief): string =>
  `${name}, still training: ${plainText(headline)}`;

/** "Finished", "finished, but nothing trained": the one sentence that a notification begins with. */
export function endText(run: RunSummary): string {
  const warning = warningText(run);
  const { word } = icons[run.status];
  const was = run.status === "interrupted" || run.status === "stopped" ? `was ${word}` : word;
  return warning === "" ? was : run.status === "finished" ? `${was}, but ${warning}` : `${was}; ${warning}`;
}

/** A run's progress in a few words: "step 85 of 420 · r̄ 0.41", "pass@1 20.4 % → 38.8 %", "failed · 3 h ago". */
export function runDescription(run: RunSummary, now: number): string {
  if (isReading(run)) return "reading its log";
  const reward = run.headline["reward/total"];
  if (isLive(run.status)) {
    const state = stateWord(run);
    const place = run.step < 0 ? icons[state].word : progressText(run);
    const said = state === "running" || run.step < 0 ? "" : ` · ${icons[state].word}`;
    const alarm = warningText(run) === "" ? "" : ` · ${warningText(run)}`;
    return `${place}${said}${alarm}${reward === undefined ? "" : ` · r̄ ${formatNumber(reward)}`}`;
  }
  const [first, last] = [run.first?.["eval/pass@1"], run.last?.["eval/pass@1"]];
  const gain =
    first !== undefined && last !== undefined
      ? ` · pass@1 ${formatFraction(first, 1)} → ${formatFraction(last, 1)}`
      : "";
  const ended = run.endedAt === null ? "" : ` · ${formatAge(now - Date.parse(run.endedAt))}`;
  const { word } = icons[run.status];
  const label = run.verdict === undefined ? "" : plainText(run.verdict.label);
  // "failed" is said once.
  const verdict = label === "" || label === word ? "" : ` · ${label}`;
  return `${run.status === "finished" ? "" : word}${verdict}${gain}${ended}`.replace(/^ · /, "");
}

/** A green tick is for a run that came to something. */
function lookOf(run: RunSummary): (typeof icons)[RunStatus] {
  const own = icons[stateWord(run)];
  if (run.status === "failed") return own;
  if (warningText(run) !== "")
    return { icon: "warning", color: "problemsWarningIcon.foreground", word: own.word };
  const open = run.status === "finished" && run.verdict !== undefined && run.verdict.state !== "learning";
  return open ? { icon: "pass", color: null, word: own.word } : own;
}

/** What tells a run from the first of its config, and where a fork begins. */
const labelOf = ({ name, label, parent }: RunSummary): string =>
  parent === undefined
    ? (label ?? name)
    : `from step ${parent.step}${label === undefined ? "" : ` · ${label}`}`;

/** Which commands there are: a run of another trainer has no checkpoint of ours, and only one that we started resumes. */
const originWord = (origin: RunSummary["origin"]): string =>
  origin === undefined ? "" : origin.site?.engine === undefined ? ".imported" : ".far";

function runRow({ run, spark = [] }: RunNode & { readonly kind: "run" }, now: number): TreeRow {
  const { icon, color, word } = lookOf(run);
  const label = labelOf(run);
  const course = spark.length < 2 ? "" : `${sparkline(spark, spark.length)} `;
  const whole = runDescription(run, now);
  // A narrow view cuts at the right: next to a course the numbers come without their name.
  const short = course === "" ? whole : whole.replace(/pass@1 ([\d.]+) % → /, "$1 → ");
  // The green tick says it, and the numbers are what a narrow view has room for.
  const shown = icon === icons.finished.icon && color !== null ? short.replace(/^learning · /, "") : short;
  const marks = [
    ...[trainedText(run.origin?.site)].filter((text) => text !== undefined),
    ...(run.tags ?? []).map((tag) => `#${tag}`),
    ...(run.pinned === true ? ["pinned"] : []),
  ];
  const said = (result: string): string[] => [result, ...marks].filter((part) => part !== "");
  const finished = run.status === "finished" && run.parent !== undefined && icon === icons.finished.icon;
  return {
    id: `run/${run.id}`,
    label,
    description: `${course}${said(shown).join(" · ")}`,
    icon: finished ? "git-branch" : icon,
    color,
    context: `run.${stateWord(run)}${originWord(run.origin)}${run.pinned === true ? ".pinned" : ""}${run.archived === true ? ".archived" : ""}`,
    expands: true,
    spoken: `${run.name}${label === run.name ? "" : `, ${label}`}, ${word}, ${said(short).join(", ")}`,
  };
}

/** A row of something that a run holds. @param key what tells it from its neighbours of the same kind */
const row = (
  { kind, run }: Exclude<RunNode, { readonly kind: "run" | "family" }>,
  key: string,
  label: string,
  description: string,
  icon: string,
  expands = false,
): TreeRow => ({
  id: `${kind}/${run}${key}`,
  label,
  description,
  icon,
  color: null,
  context: kind,
  expands,
  spoken: description === "" ? label : `${label}, ${description}`,
});

export function rowOf(node: RunNode, now: number): TreeRow {
  switch (node.kind) {
    case "family": {
      const { key, name } = node.family;
      const description = familyText(node.family);
      return {
        id: `family/${key}`,
        label: name,
        description,
        icon: "beaker",
        color: null,
        context: "family",
        expands: true,
        spoken: `${name}, ${description}`,
      };
    }
    case "run":
      return runRow(node, now);
    case "stage": {
      const steps = plural(node.to - node.from + 1, "step");
      const training = node.stageKind === "rl" || node.stageKind === "alternate";
      const description = training
        ? steps
        : node.stageKind === "sft"
          ? `${steps} of warm-up`
          : `${steps}, ${node.stageKind.replaceAll("_", " ")}`;
      return row(
        node,
        `/${node.from}`,
        node.name,
        description,
        training ? "symbol-event" : "flame",
        training,
      );
    }
    case "steps":
      return row(node, `/${node.from}`, `Steps ${node.from} to ${node.to}`, "", "list-ordered", true);
    case "step":
      return row(node, `/${node.step}`, `Step ${node.step}`, "rollouts", "comment-discussion");
    case "evaluations":
      return row(node, "", "Evaluations", plural(node.rows.length, "result"), "beaker", true);
    case "evaluation": {
      const { step, role } = node.row;
      return row(node, `/${step}/${role}`, `Step ${step}`, evaluationText(node.row), "beaker");
    }
    case "checkpoints":
      return row(node, "", "Checkpoints", plural(node.checkpoints.length, "checkpoint"), "save-all", true);
    case "checkpoint":
      return row(node, `/${node.step}`, `Step ${node.step}`, formatBytes(node.bytes), "save");
  }
}

function evaluationText({ metrics }: EvaluationRow): string {
  const passes = Object.entries(metrics)
    .filter(([name]) => /^eval\/(pass@\d+|greedy)$/.test(name))
    .map(([name, value]) => `${name.slice("eval/".length)} ${formatFraction(value, 1)}`);
  return passes.join(" · ");
}

/** Children shown in one list; more are grouped. */
const page = 50;

/** @param onDisk a run's log has every checkpoint that it wrote; `checkpoint.keep` has removed some since */
export function childrenOfRun(
  run: RunDetail,
  evaluations: readonly EvaluationRow[],
  onDisk: (path: string) => boolean,
): readonly RunNode[] {
  const stages = run.stages.map((stage, i): RunNode => {
    const to = (run.stages[i + 1]?.step ?? run.step + 1) - 1;
    return { kind: "stage", run: run.id, name: stage.name, stageKind: stage.kind, from: stage.step, to };
  });
  const checkpoints = run.checkpoints.filter(({ path }) => onDisk(path));
  return [
    ...stages.filter((stage) => stage.kind !== "stage" || stage.to >= stage.from),
    ...(evaluations.length === 0 ? [] : [{ kind: "evaluations", run: run.id, rows: evaluations } as const]),
    ...(checkpoints.length === 0 ? [] : [{ kind: "checkpoints", run: run.id, checkpoints } as const]),
  ];
}

/** Steps newest first, in groups once there are many. */
export function childrenOf(node: RunNode): readonly RunNode[] {
  switch (node.kind) {
    case "stage": {
      if (node.stageKind === "sft" || node.stageKind === "pretrain" || node.stageKind === "merge") return [];
      if (node.to - node.from < page) return steps(node.run, node.from, node.to);
      const groups: RunNode[] = [];
      for (let from = node.from; from <= node.to; from += page)
        groups.unshift({ kind: "steps", run: node.run, from, to: Math.min(from + page - 1, node.to) });
      return groups;
    }
    case "steps":
      return steps(node.run, node.from, node.to);
    case "evaluations":
      return node.rows.map((evaluation) => ({ kind: "evaluation", run: node.run, row: evaluation }));
    case "checkpoints":
      return [...node.checkpoints]
        .reverse()
        .map((checkpoint) => ({ kind: "checkpoint", run: node.run, ...checkpoint }));
    default:
      return [];
  }
}

const steps = (run: string, from: number, to: number): readonly RunNode[] =>
  Array.from({ length: Math.max(0, to - from + 1) }, (_, i) => ({ kind: "step", run, step: to - i }));

const verdictMarkdown = ({ state, headline }: VerdictBrief): string =>
  `${isAlarm(state) ? "$(warning) " : state === "learning" ? "$(pass) " : ""}${plainMarkdown(headline)}`;

/** Markdown for the tooltip; what comes from a run is escaped. */
export function runTooltip(run: RunSummary, now: number): string {
  const { label, note = "", tags = [], parent } = run;
  const lines = [
    `**${plainMarkdown(run.name)}** ${lookOf(run).word}`,
    ...(run.verdict === undefined ? [] : [verdictMarkdown(run.verdict)]),
    ...(label === undefined ? [] : [plainMarkdown(label)]),
    ...(parent === undefined ? [] : [`forked from ${plainMarkdown(parent.run)} after step ${parent.step}`]),
    ...(tags.length === 0 ? [] : [plainMarkdown(tags.map((tag) => `#${tag}`).join(" "))]),
    ...(note === "" ? [] : [plainMarkdown(note)]),
    ...(run.message === null || run.message === "" ? [] : [plainMarkdown(run.message)]),
    `${progressText(run)}${run.stage === null ? "" : `, stage ${plainMarkdown(run.stage)}`}`,
    ...Object.entries(run.headline).map(([name, value]) => `${plainMarkdown(name)}: ${formatNumber(value)}`),
    ...(run.backend === null ? [] : [`computed on ${plainMarkdown(run.backend)}`]),
    `started ${formatAge(now - Date.parse(run.startedAt))}${run.endedAt === null ? "" : `, took ${formatSeconds((Date.parse(run.endedAt) - Date.parse(run.startedAt)) / 1000)}`}`,
    `\`${run.id}\``,
  ];
  return lines.join("  \n");
}

/** While logs are read: "Reading 201 runs…", "Reading runs: 40 of 201 are left…"; empty when all are known. */
export function readingText({ left, all }: { readonly left: number; readonly all: number }): string {
  if (left === 0) return "";
  return left >= all ? `Reading ${plural(all, "run")}…` : `Reading runs: ${left} of ${all} left…`;
}

/**
 * `$(pulse) 1 run · r̄ 0.41 · 2 watched`; undefined when there is nothing to say.
 * @param alarm a run that ended with a warning and has not been looked at yet
 */
export function statusText(live: readonly RunSummary[], alarm?: RunSummary): string | undefined {
  if (live.length === 0)
    return alarm === undefined ? undefined : `$(warning) ${alarm.name}: ${warningText(alarm)}`;
  const own = live.filter((run) => !isWatched(run));
  const watched = live.length - own.length;
  if (own.length === 0) return `$(eye) ${watched} watched${courseText(live)}`;
  return `$(pulse) ${plural(own.length, "run")}${courseText(own)}${watched === 0 ? "" : ` · ${watched} watched`}`;
}

/** " · r̄ 0.41" of several runs, and of one without a reward where it is. */
function courseText(runs: readonly RunSummary[]): string {
  const rewards = runs.flatMap((run) => run.headline["reward/total"] ?? []);
  if (rewards.length > 0) return ` · r̄ ${formatNumber(rewards.reduce((a, b) => a + b, 0) / rewards.length)}`;
  const [first] = runs;
  return runs.length === 1 && first !== undefined && first.step >= 0 ? ` · step ${progressRatio(first)}` : "";
}
