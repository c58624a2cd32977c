/** Held-out results task by task, as a log keeps them. Pure. */
import type { TaskResults } from "../../../shared/run/taskResults.ts";
import type { EvaluatedTask } from "./types.ts";

/** @param ids of the tasks, in the order of `seen` */
export const taskResults = (ids: readonly string[], seen: readonly EvaluatedTask[]): TaskResults => ({
  tasks: ids,
  arms: seen.map(({ arm }) => arm),
  samples: seen.map(({ samples }) => samples.length),
  right: seen.map(({ samples }) => samples.filter(Boolean).length),
  greedy: seen.map(({ greedy }) => (greedy === undefined ? null : Number(greedy))),
});

/** The same tasks of two evaluations, in the order of the first: which place each has in either. */
export function sameTasks(
  first: TaskResults,
  second: TaskResults,
): readonly { readonly first: number; readonly second: number }[] {
  const places = new Map(second.tasks.map((id, place) => [id, place]));
  return first.tasks.flatMap((id, place) => {
    const other = places.get(id);
    return other === undefined ? [] : [{ first: place, second: other }];
  });
}

/** Changes of pass@1 of the tasks that both evaluations scored, each in [−1, 1]: the second's less the first's. */
export const passDifferences = (first: TaskResults, second: TaskResults): readonly number[] =>
  sameTasks(first, second).flatMap((pair) => {
    const [of, otherOf] = [first.samples[pair.first] ?? 0, second.samples[pair.second] ?? 0];
    return of === 0 || otherOf === 0
      ? []
      : [(second.right[pair.second] ?? 0) / otherOf - (first.right[pair.first] ?? 0) / of];
  });

/** 1 where only the second evaluation has a right answer to a task, −1 where only the first has, else 0. */
export const solvedDifferences = (first: TaskResults, second: TaskResults): readonly number[] =>
  sameTasks(first, second).flatMap((pair) =>
    (first.samples[pair.first] ?? 0) === 0 || (second.samples[pair.second] ?? 0) === 0
      ? []
      : [Number((second.right[pair.second] ?? 0) > 0) - Number((first.right[pair.first] ?? 0) > 0)],
  );
