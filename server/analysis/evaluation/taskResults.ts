/** Held-out results task by task, as a log keeps them. Pure. */
import { taskValues } from "../../../shared/run/passAtK.ts";
import { sameTasks, type TaskResults } from "../../../shared/run/taskResults.ts";
import type { EvaluatedTask } from "./types.ts";

/** @param ids of the tasks, in the order of `seen` @param gold terms of `reward.gold` */
export const taskResults = (
  ids: readonly string[],
  seen: readonly EvaluatedTask[],
  gold: readonly string[] = [],
): TaskResults => ({
  tasks: ids,
  arms: seen.map(({ arm }) => arm),
  samples: seen.map(({ samples }) => samples.length),
  right: seen.map(({ samples }) => samples.filter(Boolean).length),
  greedy: seen.map(({ greedy }) => (greedy === undefined ? null : Number(greedy))),
  ...(gold.length > 0 && {
    gold: Object.fromEntries(gold.map((term) => [term, seen.map(({ rewards }) => rewards?.[term] ?? null)])),
  }),
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

/** Changes of a gold term over the tasks that it scored both times, and the range of all its values. */
export function goldDifferences(
  first: TaskResults,
  second: TaskResults,
  term: string,
): { readonly differences: readonly number[]; readonly range: number } {
  const of = ({ gold }: TaskResults): readonly (number | undefined)[] =>
    (gold?.[term] ?? []).map((value) => value ?? undefined);
  const values = [...of(first), ...of(second)].filter((value) => value !== undefined);
  // One by one: an evaluation may ask more tasks than a call takes arguments.
  const [low, high] = values.reduce(
    ([least, most], value) => [Math.min(least, value), Math.max(most, value)],
    [Infinity, -Infinity],
  );
  return { differences: differences(first, second, of), range: Math.max(0, high - low) };
}
