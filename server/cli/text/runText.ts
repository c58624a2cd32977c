/** The lines of `gradus run` that stay: the same in a terminal and in a file. */
import { resolve } from "node:path";
import { messageBeside, verdictLines } from "./verdictText.ts";
import { visibleText } from "../../../shared/lib/visibleText.ts";
import { colours } from "./colours.ts";
import { complain, print, printJson } from "../command.ts";
import { Course } from "./course.ts";
import type { EvaluationMetrics, RunLine, RunReporter } from "./runLines.ts";
import { duration, fixed } from "./terminal.ts";

type LineOf<Type extends RunLine["type"]> = Extract<RunLine, { type: Type }>;

export function startedLines(line: LineOf<"started">): string[] {
  const plan = line.stages
    .map((stage) => `${visibleText(stage.name)} (${stage.kind}, ${steps(stage.steps)})`)
    .join(" → ");
  return [
    `${colours.bold(visibleText(line.name))}  run ${line.run}`,
    `  ${plan}`,
    ...(line.backend === null ? [] : [`  computing on ${backendText(line.backend, line.backendReason)}`]),
  ];
}

/** Why only of the slow one, which nobody need have chosen. */
const backendText = (backend: string, reason: string | null): string =>
  backend === "wasm" && reason !== null ? `${backend}: ${visibleText(reason)}` : backend;

const steps = (count: number): string => (count === 1 ? "1 step" : `${count} steps`);

/** Where an action follows, the message is a sentence that has ended. */
const ended = (message: string): string => (/[.!?:]$/u.test(message) ? message : `${message}.`);

export function eventLine({ severity, message, action }: LineOf<"event">): string {
  const mark =
    severity === "error"
      ? colours.red("error")
      : severity === "warning"
        ? colours.yellow("warning")
        : colours.dim("·");
  const text = visibleText(message);
  return `${mark} ${action === null ? text : `${ended(text)}${colours.dim(` ${visibleText(action)}`)}`}`;
}

const headline = (metrics: EvaluationMetrics): string =>
  Object.entries(metrics)
    .filter(([name]) => /^eval\/(pass@\d+|greedy)$/.test(name))
    .map(([name, value]) => `${name.slice(5)} ${fixed(value)}`)
    .join("  ");

export function evaluationLine({ step, role, metrics }: LineOf<"evaluation">): string {
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

/** What has failed by its config would fail again. */
const asItWas =
  ", with its original config and the reward's files as they are now; a changed config is a new run";

/** @param course what the steps came to, where somebody has followed them */
export function summaryLines(line: LineOf<"summary">, course: readonly string[] = []): string[] {
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
    ...messageBeside(line.message, line.verdict ?? null).map((text) => `  ${visibleText(text)}`),
    ...course,
    ...(names.length === 0 ? [] : ["held-out, before → after:"]),
    ...names.flatMap((name) => change(name, line.evaluation.first, line.evaluation.last)),
    ...(line.verdict === undefined ? [] : ["", ...verdictLines(line.verdict), ""]),
    `stored in ${line.folder}`,
    `open it in VS Code: code ${projectOf(line.folder)}, then Gradus in the activity bar`,
    ...(line.resume === null ? [] : [`resume it: ${line.resume}${line.status === "failed" ? asItWas : ""}`]),
  ];
}

/** `<project>/.gradus/runs/<id>` → the project, quoted where a shell needs it. */
function projectOf(runFolder: string): string {
  const project = resolve(runFolder, "..", "..", "..");
  return /^[\w./:\\-]+$/.test(project) ? project : JSON.stringify(project);
}

/** Plain lines, for a file or a pipe: of the steps the first and the last, and those that are due between them. */
export class PlainView implements RunReporter {
  readonly wantsCompletions = false;
  private readonly course = new Course();
  private total = 0;
  /** The last step, where it was not due. */
  private held: LineOf<"step"> | undefined;
  private reported: { readonly at: number; readonly step: number } | undefined;

  /** @param now milliseconds; a test has a clock of its own */
  constructor(private readonly now: () => number = () => performance.now()) {}

  completions(): void {
    // A file is not the place for a few completions in passing: `gradus rollouts RUN` prints all of them.
  }
  say(text: string): void {
    complain(text);
  }
  line(line: RunLine): void {
    for (const text of this.lines(line)) print(text);
  }
  /** The lines to print now. A step that was held back comes before the next line. */
  lines(line: RunLine): string[] {
    if (line.type === "step") return this.step(line);
    const before = line.type === "started" ? [] : this.release();
    return [...before, ...this.others(line)];
  }

  private step(line: LineOf<"step">): string[] {
    this.course.step(line);
    this.held = line;
    return this.isDue(line.step) ? this.release() : [];
  }

  /** The first, one that goes back, and one that is both 1 % of the run and two seconds after the last line of a step. */
  private isDue(step: number): boolean {
    const { reported } = this;
    if (reported === undefined || step < reported.step) return true;
    return step - reported.step >= this.total / 100 && this.now() - reported.at >= quiet;
  }

  private release(): string[] {
    const { held } = this;
    if (held === undefined) return [];
    this.held = undefined;
    this.reported = { at: this.now(), step: held.step };
    return [stepText(held)];
  }

  private others(line: Exclude<RunLine, LineOf<"step">>): string[] {
    switch (line.type) {
      case "started":
        this.total = line.steps;
        return startedLines(line);
      case "stage":
        this.reported = undefined;
        return [`stage ${visibleText(line.name)} (${line.kind})`];
      case "event":
        return [eventLine(line)];
      case "evaluation":
        return [evaluationLine(line)];
      case "summary":
        return summaryLines(line, this.course.lines(line));
    }
  }
}

/** Milliseconds between two lines of steps, at least. */
const quiet = 2_000;

function stepText({ step, metrics }: LineOf<"step">): string {
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
    complain(text);
  }
  line(line: RunLine): void {
    printJson(line);
  }
}
