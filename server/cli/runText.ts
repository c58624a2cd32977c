/** The lines of `gradus run` that stay: the same in a terminal and in a file. */
import { resolve } from "node:path";
import type { RunWarning } from "../../shared/outcome.ts";
import { colours } from "./colours.ts";
import { print, printJson } from "./command.ts";
import type { EvaluationMetrics, RunLine, RunReporter } from "./runLines.ts";
import { duration, fixed } from "./terminal.ts";

type Line<Type extends RunLine["type"]> = Extract<RunLine, { type: Type }>;

export function startedLines(line: Line<"started">): string[] {
  const plan = line.stages.map((stage) => `${stage.name} (${stage.kind}, ${steps(stage.steps)})`).join(" → ");
  return [
    `${colours.bold(line.name)}  run ${line.run}`,
    `  ${plan}`,
    ...(line.backend === null ? [] : [`  computing on ${line.backend}`]),
  ];
}

const steps = (count: number): string => (count === 1 ? "1 step" : `${count} steps`);

/** Where an action follows, the message is a sentence that has ended. */
const ended = (message: string): string => (/[.!?:]$/u.test(message) ? message : `${message}.`);

export function eventLine({ severity, message, action }: Line<"event">): string {
  const mark =
    severity === "error"
      ? colours.red("error")
      : severity === "warning"
        ? colours.yellow("warning")
        : colours.dim("·");
  return `${mark} ${action === null ? message : `${ended(message)}${colours.dim(` ${action}`)}`}`;
}

const headline = (metrics: EvaluationMetrics): string =>
  Object.entries(metrics)
    .filter(([name]) => /^eval\/(pass@\d+|greedy)$/.test(name))
    .map(([name, value]) => `${name.slice(5)} ${fixed(value)}`)
    .join("  ");

export function evaluationLine({ step, role, metrics }: Line<"evaluation">): string {
  return `${colours.blue("held-out")} after ${step + 1} steps${role === "periodic" ? "" : ` (${role})`}: ${headline(metrics)}`;
}

function change(name: string, first: EvaluationMetrics | null, last: EvaluationMetrics | null): string[] {
  const [before, after] = [first?.[name], last?.[name]];
  if (before === undefined || after === undefined) return [];
  const gain = after - before;
  const sign = `${gain >= 0 ? "+" : "−"}${Math.abs(gain).toFixed(3)}`;
  return [
    `  ${name.slice(5).padEnd(8)} ${fixed(before)} → ${colours.bold(fixed(after))}  ${gain > 0 ? colours.green(sign) : gain < 0 ? colours.red(sign) : sign}`,
  ];
}

/** What a run came to, where that is not what its end suggests. */
export const warningLines = (warnings: readonly RunWarning[] = []): string[] =>
  warnings.map(({ message }) => `${colours.yellow("⚠ warning")} ${message}`);

/** What has failed by its config would fail again. */
const asItWas = ", by the config as it was; a changed one is a new run";

export function summaryLines(line: Line<"summary">): string[] {
  const names = Object.keys(line.evaluation.last ?? {}).filter((name) =>
    /^eval\/(pass@\d+|greedy)$/.test(name),
  );
  const status =
    line.status === "finished"
      ? colours.green(line.status)
      : line.status === "failed"
        ? colours.red(line.status)
        : colours.yellow(line.status);
  return [
    `${status} after ${line.steps} steps, ${duration(line.seconds)}`,
    ...(line.message === null || line.message === "" ? [] : [`  ${line.message}`]),
    ...(names.length === 0 ? [] : ["held-out, before → after:"]),
    ...names.flatMap((name) => change(name, line.evaluation.first, line.evaluation.last)),
    ...warningLines(line.warnings),
    `stored in ${line.folder}`,
    `open it in VS Code: code ${projectOf(line.folder)}, then Gradus in the activity bar`,
    ...(line.resume === null
      ? []
      : [`go on with it: ${line.resume}${line.status === "failed" ? asItWas : ""}`]),
  ];
}

/** `<project>/.gradus/runs/<id>` → the project, quoted where a shell needs it. */
function projectOf(runFolder: string): string {
  const project = resolve(runFolder, "..", "..", "..");
  return /^[\w./:\\-]+$/.test(project) ? project : JSON.stringify(project);
}

/** Plain lines, for a file or a pipe. */
export class PlainView implements RunReporter {
  readonly wantsCompletions = false;

  completions(): void {
    // A file is not the place for a few completions in passing: `gradus rollouts RUN` prints all of them.
  }
  say(text: string): void {
    process.stderr.write(`${text}\n`);
  }
  line(line: RunLine): void {
    for (const text of this.lines(line)) print(text);
  }
  private lines(line: RunLine): string[] {
    switch (line.type) {
      case "started":
        return startedLines(line);
      case "stage":
        return [`stage ${line.name} (${line.kind})`];
      case "step":
        return [stepText(line)];
      case "event":
        return [eventLine(line)];
      case "evaluation":
        return [evaluationLine(line)];
      case "summary":
        return summaryLines(line);
    }
  }
}

function stepText({ step, metrics }: Line<"step">): string {
  const value = (label: string, name: string, digits = 3): string[] =>
    typeof metrics[name] === "number" ? [`${label} ${fixed(metrics[name], digits)}`] : [];
  const parts = [
    ...value("reward", "reward/total"),
    ...value("loss", "update/loss", 4),
    ...value("entropy", "policy/entropy"),
    ...value("length", "rollout/length", 1),
    ...value("s", "time/total", 2),
  ];
  return `step ${step}  ${parts.join("  ")}`;
}

/** One JSON object a line; the shapes are documented in docs/protocol.md. */
export class JsonLines implements RunReporter {
  readonly wantsCompletions = false;

  completions(): void {
    // Not part of the stream.
  }
  say(text: string): void {
    process.stderr.write(`${text}\n`);
  }
  line(line: RunLine): void {
    printJson(line);
  }
}
