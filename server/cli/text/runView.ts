/** `gradus run` in a terminal: progress with the time left, the reward's curve, what the curriculum draws, a few completions. */
import { colours } from "./colours.ts";
import { fromWire } from "../../../shared/rollouts/rollouts.ts";
import { Course } from "./course.ts";
import type { CompletionRow, RunLine, RunReporter } from "./runLines.ts";
import { sparkline } from "../../../shared/lib/sparkline.ts";
import { bar, byReward, columnsOf, duration, fixed, LiveBlock, oneLine, wrapped } from "./terminal.ts";
import { evaluationLine, eventLine, startedLines, summaryLines } from "./runText.ts";

/** Steps of which the mean time is taken for what is left. */
const timed = 20;

export class LiveView implements RunReporter {
  readonly wantsCompletions = true;
  private total = 0;
  private done = 0;
  private stage = "";
  /** How far a long evaluation is; empty where none is under way. */
  private evaluating = "";
  private seconds: number[] = [];
  private rewards: number[] = [];
  private shares: [string, number][] = [];
  private last: Extract<RunLine, { type: "step" }>["metrics"] = {};
  private rows: readonly CompletionRow[] = [];
  private readonly course = new Course();
  private readonly block: LiveBlock;

  constructor(stream: NodeJS.WriteStream) {
    this.block = new LiveBlock(stream);
  }

  say(text: string): void {
    this.print([text]);
    this.draw();
  }

  completions(rows: readonly CompletionRow[]): void {
    this.rows = rows;
    this.draw();
  }

  line(line: RunLine): void {
    switch (line.type) {
      case "started":
        this.total = line.steps;
        return this.print(startedLines(line));
      case "stage":
        [this.stage, this.seconds, this.rewards] = [line.name, [], []];
        return this.draw();
      case "step":
        return this.step(line);
      case "event":
        if (line.name === "evaluating") this.evaluating = line.message;
        else this.print([eventLine(line)]);
        return this.draw();
      case "evaluation":
        this.evaluating = "";
        this.print([evaluationLine(line)]);
        return this.draw();
      case "summary":
        this.block.draw([]);
        return this.print(summaryLines(line, this.course.lines(line)));
    }
  }

  private print(lines: readonly string[]): void {
    for (const line of lines) this.block.print(wrapped(line, this.block.width));
  }

  private step(line: Extract<RunLine, { type: "step" }>): void {
    const { step, metrics } = line;
    this.course.step(line);
    this.done = step + 1;
    this.last = metrics;
    const total = metrics["time/total"];
    if (typeof total === "number") this.seconds.push(total);
    const reward = metrics["reward/total"] ?? metrics["update/loss"];
    if (typeof reward === "number") this.rewards.push(reward);
    this.shares = Object.entries(metrics).flatMap(([name, value]): [string, number][] => {
      const arm = /^curriculum\/(.+)\/share$/.exec(name)?.[1];
      return arm === undefined || value === null ? [] : [[arm, value]];
    });
    this.draw();
  }

  /** Steps left in this stage at its pace; other stages' paces are not known yet, so they count at the same one. */
  private eta(): number {
    const recent = this.seconds.slice(-timed);
    return recent.length === 0 || this.total === 0
      ? Number.NaN
      : (recent.reduce((sum, value) => sum + value, 0) / recent.length) * (this.total - this.done);
  }

  private draw(): void {
    const width = Math.max(40, this.block.width - 1);
    const percent = this.total > 0 ? Math.floor((100 * this.done) / this.total) : 0;
    const pace = this.seconds.at(-1);
    const name = oneLine(this.stage, 24).padEnd(9);
    const count = this.total > 0 ? `${this.done}/${this.total} ${percent} %` : `step ${this.done}`;
    const left = `${fixed(pace, 2)} s/step, ${duration(this.eta())} left`;
    const room = width - columnsOf(`${name}  ${count}  ${left}`);
    const head = `${colours.bold(name)} ${colours.cyan(bar(this.done, this.total, Math.max(4, Math.min(30, room))))} ${count}  ${colours.dim(left)}`;
    const now = this.evaluating === "" ? [] : [colours.dim(oneLine(this.evaluating, width))];
    this.block.draw([head, ...now, this.curve(width), ...this.curriculum(width), ...this.lines(width)]);
  }

  private curve(width: number): string {
    const supervised = this.last["reward/total"] === undefined;
    const name = supervised ? "loss" : "reward";
    const value = this.last[supervised ? "update/loss" : "reward/total"] ?? Number.NaN;
    return `${name.padEnd(9)} ${colours.green(sparkline(this.rewards, Math.max(8, Math.min(60, width - 22))))} ${fixed(value)}`;
  }

  private curriculum(width: number): string[] {
    if (this.shares.length === 0) return [];
    const room = Math.max(4, Math.floor((width - 10) / this.shares.length) - 18);
    const part = ([arm, share]: [string, number]): string =>
      `${oneLine(arm, 40)} ${colours.magenta(bar(share, 1, Math.min(10, room)))} ${Math.round(share * 100)} %`;
    return [`${"drawing".padEnd(9)} ${this.shares.slice(0, 6).map(part).join("  ")}`];
  }

  private lines(width: number): string[] {
    const rewards = this.rows.map((row) => fromWire(row.reward ?? null)).filter(Number.isFinite);
    const [worst, best] = [Math.min(...rewards), Math.max(...rewards)];
    return this.rows.map((row) => {
      const reward = fromWire(row.reward ?? null);
      const text = oneLine(`${row.prompt ?? ""}${row.response ?? ""}`, width - 12);
      return `  ${byReward(fixed(reward, 2).padStart(6), reward, worst, best)}  ${byReward(text, reward, worst, best)}`;
    });
  }
}
