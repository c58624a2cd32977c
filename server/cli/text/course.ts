/** What remains of a followed run above "before → after": its reward's curve, and one sentence of what happened. */
import { colours } from "./colours.ts";
import type { RunLine } from "./runLines.ts";
import { sparkline } from "../../../shared/lib/sparkline.ts";
import { fixed, thinned } from "./terminal.ts";

type LineOf<Type extends RunLine["type"]> = Extract<RunLine, { type: Type }>;

const curveWidth = 60;
/** Percentage of the first and of the last steps to average; at least one step each. */
const share = 10;

/** Collects what the steps of a run tell; reward where there is one, else the loss. */
export class Course {
  private rewards = new Map<number, number>();
  private losses = new Map<number, number>();
  private trained: number | undefined;

  step({ step, metrics }: LineOf<"step">): void {
    const [reward, loss, tokens] = [
      metrics["reward/total"],
      metrics["update/loss"],
      metrics["tokens/trained"],
    ];
    // By step: one that is trained again, by a resumed attempt, counts once.
    if (typeof reward === "number") this.rewards.set(step, reward);
    if (typeof loss === "number") this.losses.set(step, loss);
    if (typeof tokens === "number") this.trained = (this.trained ?? 0) + tokens;
  }

  lines({ evaluation: { first, last } }: LineOf<"summary">): string[] {
    const [name, values] = this.rewards.size > 0 ? ["reward", this.rewards] : ["loss", this.losses];
    const known = [...values].sort(([a], [b]) => a - b).map(([, value]) => value);
    if (known.length === 0) return [];
    const few = Math.max(1, Math.floor(known.length / share));
    const [began, ended] = [mean(known.slice(0, few)), mean(known.slice(-few))];
    const sentences = [
      `The ${name}, as the mean of the first and of the last ${few === 1 ? "step" : `${few} steps`}, ${moved(began, ended)}`,
      ...measured(first?.["eval/pass@1"], last?.["eval/pass@1"]),
    ];
    const idle = this.rewards.size > 0 && this.trained === 0 ? " No token was trained." : "";
    return [
      `${name.padEnd(9)} ${colours.green(sparkline(thinned(known, curveWidth), curveWidth))} ${fixed(ended)}`,
      `${sentences.join(", and ")}.${idle}`,
    ];
  }
}

const mean = (values: readonly number[]): number =>
  values.reduce((sum, value) => sum + value, 0) / values.length;

/** Without a judgement of whether it is much: the digits that are printed decide. */
const moved = (from: number, to: number): string =>
  fixed(from) === fixed(to)
    ? `stayed at ${fixed(to)}`
    : `${to > from ? "rose" : "fell"} from ${fixed(from)} to ${fixed(to)}`;

const measured = (first: number | undefined, last: number | undefined): string[] =>
  first === undefined || last === undefined ? [] : [`held-out pass@1 ${moved(first, last)}`];
