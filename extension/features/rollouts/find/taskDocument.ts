/** One task through training: what came of it step by step, with the best and the worst response of each. Pure. */
import { formatChange, formatNumber } from "../../../../shared/lib/format.ts";
import { fromWire, type RolloutRow } from "../../../../shared/rollouts/rollouts.ts";
import {
  rewardText,
  rightText,
  taskSummary,
  type TaskStep,
} from "../../../../shared/rollouts/taskHistory.ts";
import type { RolloutDocument, RolloutLines } from "../document.ts";
import { Writer, signOf, writeText, type Heading } from "../writer.ts";

export interface FollowedTask {
  readonly name: string;
  readonly task: string;
  readonly arm: string | undefined;
  readonly prompt: string | undefined;
  readonly steps: readonly TaskStep[];
}
/** With where each step begins, for lenses. */
export interface TaskDocument extends RolloutDocument {
  readonly steps: readonly { readonly line: number; readonly step: TaskStep }[];
}

export function taskDocument({ name, task, arm, prompt, steps }: FollowedTask): TaskDocument {
  const writer = new Writer();
  const rollouts: RolloutLines[] = [];
  const places: { line: number; step: TaskStep }[] = [];
  writer.write(`${name} · ${[task, ...(arm === undefined ? [] : [arm])].join(" · ")}`, "heading");
  writer.write(taskSummary(steps));
  if (prompt !== undefined) {
    const from = writer.line;
    writeText(writer, "  ? ", prompt);
    writer.fold(from, true);
  }
  const headings = steps.map((step) => {
    writer.write();
    places.push({ line: writer.line, step });
    return writeStep(writer, step, rollouts);
  });
  return {
    ...writer.written(headings),
    rollouts,
    steps: places,
  };
}

function verdictOf({ admitted, reason }: TaskStep): string {
  if (admitted === null) return "";
  return admitted ? " · in training" : ` · left out${reason === null ? "" : `: ${reason}`}`;
}

function writeStep(writer: Writer, step: TaskStep, rollouts: RolloutLines[]): Heading {
  const start = writer.line;
  writer.write(
    [`■ step ${step.step}`, rightText(step), rewardText(step)].filter(Boolean).join(" · ") + verdictOf(step),
  );
  const { best, worst } = step;
  if (best !== undefined) writeRollout(writer, "best", best, rollouts);
  if (worst !== undefined && worst !== best) writeRollout(writer, "worst", worst, rollouts);
  writer.fold(start);
  return {
    line: start,
    end: writer.line - 1,
    name: `step ${step.step}`,
    detail: rightText(step),
    children: [],
  };
}

function writeRollout(writer: Writer, word: string, rollout: RolloutRow, rollouts: RolloutLines[]): void {
  const { step, group, index, reward = null, advantage = null, response = "" } = rollout;
  const from = writer.line;
  const gained = fromWire(advantage);
  const label = `● ${index}`;
  writer.pieces("  ", [
    { text: label },
    { text: word.padEnd("worst".length) },
    { text: `reward ${formatNumber(fromWire(reward))}` },
    ...(Number.isNaN(gained) ? [] : [{ text: `advantage ${formatChange(gained)}`, sign: signOf(gained) }]),
  ]);
  writeText(writer, "    │ ", response);
  rollouts.push({ from, to: writer.line - 1, at: [2, 2 + label.length], step, group, index });
}
