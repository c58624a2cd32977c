/** Held-out measures with how sure they are, of one model and of two on the same tasks. Pure. */
import type { Random } from "../../lib/random.ts";
import { bootstrapMean, type Interval } from "./bootstrap.ts";
import type { EvaluatedTask } from "./types.ts";
import { known, valuesByTask } from "./passAtK.ts";

/** The 95 % interval of each metric, over tasks drawn again. */
export function intervals(
  tasks: readonly EvaluatedTask[],
  ks: readonly number[],
  random: Random,
): Record<string, Interval> {
  return present([...valuesByTask(tasks, ks)], (values, name) =>
    bootstrapMean(known(values), random.fork("interval", name)),
  );
}

/** One metric of two models: the first's value less the second's. */
export interface Difference extends Interval {
  readonly value: number;
  /** Tasks that say something of both. */
  readonly tasks: number;
}

/**
 * How much better the first model is, metric by metric, with the paired bootstrap's 95 % interval: tasks are drawn with
 * what both models did on them, so how hard a task is cancels.
 * @param first what was seen of each task; the same tasks in the same order as in `second`
 */
export function differences(
  first: readonly EvaluatedTask[],
  second: readonly EvaluatedTask[],
  ks: readonly number[],
  random: Random,
): Record<string, Difference> {
  if (first.length !== second.length)
    throw new RangeError(
      `${first.length} tasks of one model cannot be paired with ${second.length} of the other`,
    );
  const others = valuesByTask(second, ks);
  return present([...valuesByTask(first, ks)], (values, name) => {
    const other = others.get(name) ?? [];
    const pairs = known(
      values.map((value, task) => {
        const otherValue = other[task];
        return value === undefined || otherValue === undefined ? undefined : value - otherValue;
      }),
    );
    const interval = bootstrapMean(pairs, random.fork("difference", name));
    const value = pairs.reduce((sum, pair) => sum + pair, 0) / pairs.length;
    return interval === undefined ? undefined : { value, tasks: pairs.length, ...interval };
  });
}

function present<Input, Output>(
  entries: readonly (readonly [string, Input])[],
  make: (input: Input, name: string) => Output | undefined,
): Record<string, Output> {
  return Object.fromEntries(
    entries.flatMap(([name, input]): [string, Output][] => {
      const made = make(input, name);
      return made === undefined ? [] : [[name, made]];
    }),
  );
}
