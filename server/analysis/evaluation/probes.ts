/** What a model lacks: its tasks asked once more with something supplied, or in parts. */
import { fieldOf, isObject, textField } from "../../core/templates.ts";
import type { Json } from "../../../shared/lib/json.ts";
import type { Random } from "../../lib/random.ts";
import type { Task } from "../../core/task.ts";
import { bootstrapMean, type Interval } from "./bootstrap.ts";
import type { EvaluatedTask } from "./types.ts";
import { passAtK } from "../../../shared/run/passAtK.ts";

export interface EvaluationProbe {
  readonly name: string;
  /** Of the tasks' data: a text that is supplied, or a list of `{ prompt, answer }`, the task in parts. */
  readonly field: string;
}

/** One task of a probe: what is asked in its place. */
interface Probed {
  /** The task's place among those that were evaluated. */
  readonly place: number;
  readonly asked: readonly Task[];
}

function partOf(task: Task, value: Json, index: number): Task[] {
  if (!isObject(value)) return [];
  const { prompt, answer } = value;
  if (typeof prompt !== "string" || (typeof answer !== "string" && typeof answer !== "number")) return [];
  const { solution: _, pair: __, ...rest } = task;
  return [
    { ...rest, id: `${task.id}#${index}`, prompt, answer: String(answer), data: { ...task.data, ...value } },
  ];
}

/** What is asked of a task by a probe; none where it has no such field. */
export function askedBy({ name, field }: EvaluationProbe, task: Task): Task[] {
  const value = fieldOf(task, field);
  if (Array.isArray(value)) return value.flatMap((one: Json, i) => partOf(task, one, i));
  const text = textField(task, field);
  return text === undefined
    ? []
    : [{ ...task, id: `${task.id}+${name}`, prompt: `${task.prompt}\n${name}: ${text}\n` }];
}

export const probed = (probe: EvaluationProbe, tasks: readonly Task[]): Probed[] =>
  tasks.flatMap((task, place) => {
    const asked = askedBy(probe, task);
    return asked.length === 0 ? [] : [{ place, asked }];
  });

export interface ProbeReport extends EvaluationProbe {
  /** Tasks that have the field. */
  readonly tasks: number;
  /** Questions asked in their places. */
  readonly asked: number;
  /** By metric, over these tasks: asked so, asked plainly, and the difference. */
  readonly metrics: Readonly<
    Record<string, { with: number; without: number; difference: number } & Interval>
  >;
}

const rate = ({ samples }: EvaluatedTask, k: number): number | undefined =>
  samples.length < k ? undefined : passAtK(samples.length, samples.filter(Boolean).length, k);

/** The mean over a task's parts; undefined where one of them says nothing. */
function meanOf(values: readonly (number | undefined)[]): number | undefined {
  const known = values.filter((value) => value !== undefined);
  return known.length < values.length || known.length === 0
    ? undefined
    : known.reduce((sum, value) => sum + value, 0) / known.length;
}

/**
 * Source: Beyond Accuracy: Dissecting Mathematical Reasoning for LLMs Under Reinforcement Learning.
 * @param seen of the questions, those of each probed task after those of the one before
 * @param plain of all tasks, asked plainly
 */
export function probeReport(
  probe: EvaluationProbe,
  found: readonly Probed[],
  seen: readonly EvaluatedTask[],
  plain: readonly EvaluatedTask[],
  ks: readonly number[],
  random: Random,
): ProbeReport {
  const measures: [string, (task: EvaluatedTask) => number | undefined][] = [
    ...ks.map((k): [string, (task: EvaluatedTask) => number | undefined] => [
      `pass@${k}`,
      (task) => rate(task, k),
    ]),
    ["greedy", ({ greedy }) => (greedy === undefined ? undefined : Number(greedy))],
  ];
  const metrics: Record<string, ProbeReport["metrics"][string]> = {};
  for (const [name, measure] of measures) {
    let at = 0;
    const pairs = found.flatMap(({ place, asked }) => {
      const own = meanOf(seen.slice(at, (at += asked.length)).map(measure));
      const bare = measure(plain[place]!);
      return own === undefined || bare === undefined ? [] : [{ own, bare }];
    });
    const interval = bootstrapMean(
      pairs.map(({ own, bare }) => own - bare),
      random.fork("probe", probe.name, name),
    );
    if (interval === undefined) continue;
    const mean = (of: "own" | "bare"): number =>
      pairs.reduce((sum, pair) => sum + pair[of], 0) / pairs.length;
    metrics[name] = {
      with: mean("own"),
      without: mean("bare"),
      difference: mean("own") - mean("bare"),
      ...interval,
    };
  }
  return { ...probe, tasks: found.length, asked: seen.length, metrics };
}
