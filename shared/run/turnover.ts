/** Which held-out tasks a run learned, and which of them it lost again. Pure. */
import type { TaskResults } from "./taskResults.ts";

export interface Evaluated {
  readonly step: number;
  readonly results: TaskResults;
}

/** A task that was right in some evaluation and is not in the last one. */
export interface Forgotten {
  readonly task: string;
  readonly arm: string;
  /** The last evaluation in which it was right, and the first after it, in which it was not. */
  readonly solved: number;
  readonly lost: number;
}

/** A task that was not right in the first evaluation and is in the last. */
export interface Learned {
  readonly task: string;
  readonly arm: string;
  /** From which evaluation on it has been right. */
  readonly solved: number;
}

export interface ArmTurnover {
  readonly arm: string;
  readonly tasks: number;
  readonly forgotten: number;
}

export interface Turnover {
  readonly first: number;
  readonly last: number;
  /** Tasks that both of these asked. */
  readonly tasks: number;
  readonly learned: readonly Learned[];
  readonly forgotten: readonly Forgotten[];
  /** Right in the first evaluation, and in the last. */
  readonly kept: number;
  /** Of each arm, how many of these tasks it has, and how many of them are forgotten. */
  readonly arms: readonly ArmTurnover[];
  /** By evaluation, how many of these tasks were right, and how many of those that were right before are not. */
  readonly course: readonly { readonly step: number; readonly right: number; readonly lost: number }[];
}

/** By the greedy answer, which no chance decides; where there is none, by whether any sampled one is right. */
function rightOf({ tasks, samples, right, greedy }: TaskResults): ReadonlyMap<string, boolean> {
  return new Map(
    tasks.flatMap((task, i): [string, boolean][] => {
      const own = greedy[i] ?? null;
      if (own !== null) return [[task, own === 1]];
      return (samples[i] ?? 0) > 0 ? [[task, (right[i] ?? 0) > 0]] : [];
    }),
  );
}

/** @param evaluations by step @returns undefined below two evaluations with tasks in common */
export function turnover(evaluations: readonly Evaluated[]): Turnover | undefined {
  const known = evaluations.map(({ step, results }) => ({ step, right: rightOf(results) }));
  const [first, last] = [known[0], known.at(-1)];
  if (first === undefined || last === undefined || known.length < 2) return undefined;
  const results = evaluations[0]!.results;
  const tasks = results.tasks
    .map((task, i) => ({ task, arm: results.arms[i] ?? "" }))
    .filter(({ task }) => first.right.has(task) && last.right.has(task));
  if (tasks.length === 0) return undefined;
  const rightAt = ({ right }: (typeof known)[number], task: string): boolean => right.get(task) === true;
  const forgotten = tasks.flatMap(({ task, arm }): Forgotten[] => {
    const at = known.findLastIndex((one) => rightAt(one, task));
    const after = known[at + 1];
    return at < 0 || after === undefined ? [] : [{ task, arm, solved: known[at]!.step, lost: after.step }];
  });
  const learned = tasks.flatMap(({ task, arm }): Learned[] => {
    if (rightAt(first, task) || !rightAt(last, task)) return [];
    return [{ task, arm, solved: known[known.findLastIndex((one) => !rightAt(one, task)) + 1]!.step }];
  });
  return {
    first: first.step,
    last: last.step,
    tasks: tasks.length,
    learned,
    forgotten,
    kept: tasks.filter(({ task }) => rightAt(first, task) && rightAt(last, task)).length,
    arms: byArm(tasks, forgotten),
    course: known.map((one, i) => ({
      step: one.step,
      right: tasks.filter(({ task }) => rightAt(one, task)).length,
      lost: tasks.filter(
        ({ task }) => !rightAt(one, task) && known.slice(0, i).some((before) => rightAt(before, task)),
      ).length,
    })),
  };
}

interface OfArm {
  readonly arm: string;
}

/** In the order in which the arms are asked. */
function byArm(tasks: readonly OfArm[], forgotten: readonly OfArm[]): readonly ArmTurnover[] {
  const counts = new Map<string, { tasks: number; forgotten: number }>();
  for (const { arm } of tasks) {
    const own = counts.get(arm) ?? { tasks: 0, forgotten: 0 };
    counts.set(arm, own);
    own.tasks++;
  }
  for (const { arm } of forgotten) counts.get(arm)!.forgotten++;
  return [...counts].map(([arm, own]) => ({ arm, ...own }));
}
