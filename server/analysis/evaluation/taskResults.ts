/** Held-out results task by task, as a log keeps them. Pure. */
import { taskValues } from "../../../shared/run/passAtK.ts";
import { sameTasks, type TaskResults } from "../../../shared/run/taskResults.ts";
import type { EvaluatedTask } from "./types.ts";

/** @param ids of the tasks, in the order of `seen` */
export const taskResults = (ids: readonly string[], seen: readonly EvaluatedTask[]): TaskResults => ({
  tasks: ids,
  arms: seen.map(({ arm }) => arm),
  samples: seen.map(({ samples }) => samples.length),
  right: seen.map(({ samples }) => samples.filter(Boolean).length),
  greedy: seen.map(({ greedy }) => (greedy === undefined ? null : Number(greedy))),
});

/** Differences of a value over the tasks that have it both times: the second's less the first's. */
function differences(
  first: TaskResults,
  second: TaskResults,
  of: (results: TaskResults) => readonly (number | undefined)[],
): readonly number[] {
  const [own, others] = [of(first), of(second)];
  return sameTasks(first, second).flatMap((pair) => {
    const [value, other] = [own[pair.first], others[pair.second]];
    return value === undefined || other === undefined ? [] : [other - value];
  });
}

/** Changes of pass@1 of the tasks that both evaluations scored, each in [−1, 1]. */
export const passDifferences = (first: TaskResults, second: TaskResults): readonly number[] =>
  differences(first, second, (results) => taskValues(results, "eval/pass@1"));

/** 1 where only the second evaluation has a right answer to a task, −1 where only the first has, else 0. */
export const solvedDifferences = (first: TaskResults, second: TaskResults): readonly number[] =>
  differences(first, second, ({ samples, right }) =>
    samples.map((count, i) => (count === 0 ? undefined : Number((right[i] ?? 0) > 0))),
  );
