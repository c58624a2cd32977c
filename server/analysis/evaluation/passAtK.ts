/** Held-out measures: pure functions from counts of right answers. */
import type { EvaluatedTask, Measure } from "./types.ts";
import type { EvaluationReport } from "../../core/evaluation.ts";
import { attemptMeasures } from "./attempts.ts";
import { mean } from "../../../shared/lib/mean.ts";
import { passAtK } from "../../../shared/run/passAtK.ts";

function measures(tasks: readonly EvaluatedTask[], ks: readonly number[]): [string, Measure][] {
  const terms = [...new Set(tasks.flatMap(({ rewards }) => Object.keys(rewards ?? {})))];
  const own: [string, Measure][] = [
    // A task with fewer scored samples than k (errors) says nothing of pass@k.
    ...ks.map((k): [string, Measure] => [
      `pass@${k}`,
      ({ samples }) =>
        samples.length < k ? undefined : passAtK(samples.length, samples.filter(Boolean).length, k),
    ]),
    ["greedy", ({ greedy }) => (greedy === undefined ? undefined : Number(greedy))],
  ];
  const termMeasures = terms.map((term): [string, Measure] => [
    `eval/reward/${term}`,
    ({ rewards }) => rewards?.[term],
  ]);
  const arms = [...new Set(tasks.map((task) => task.arm))].sort();
  return [
    ...own.map(([name, measure]): [string, Measure] => [`eval/${name}`, measure]),
    ...termMeasures,
    ...attemptMeasures(tasks),
    ...arms.flatMap((arm) =>
      own.map(([name, measure]): [string, Measure] => [
        `eval/${arm}/${name}`,
        (task) => (task.arm === arm ? measure(task) : undefined),
      ]),
    ),
  ];
}

/** Every metric's value of each task, in the order of the tasks; metrics that no task has are left out. */
export function valuesByTask(
  tasks: readonly EvaluatedTask[],
  ks: readonly number[],
): ReadonlyMap<string, readonly (number | undefined)[]> {
  const columns = measures(tasks, ks).map(([name, measure]) => [name, tasks.map(measure)] as const);
  return new Map(columns.filter(([, values]) => values.some((value) => value !== undefined)));
}

export const known = (values: readonly (number | undefined)[]): number[] =>
  values.filter((value) => value !== undefined);

/** `eval/pass@k`, `eval/greedy`, `eval/reward/<term>` of the greedy answers, and the first two per arm. */
export function evaluationReport(tasks: readonly EvaluatedTask[], ks: readonly number[]): EvaluationReport {
  const columns = [...valuesByTask(tasks, ks)];
  return {
    metrics: Object.fromEntries(columns.map(([name, values]) => [name, mean(known(values))])),
    tasks: tasks.length,
  };
}
