/** Held-out results of groups of runs against those of the first group, task by task where the runs have them so. Pure. */
import type { EvaluationRow } from "../../../shared/protocol/protocol.ts";
import { mean } from "../../../shared/lib/mean.ts";
import type { ArmDifference, HeldOutDifference } from "../../../shared/run/comparison.ts";
import { shareDifference } from "../../../shared/lib/proportions.ts";
import { heldOutNames } from "../../../shared/run/outcome.ts";
import type { Random } from "../../lib/random.ts";
import { bootstrapMean } from "../evaluation/bootstrap.ts";
import { taskValues } from "../../../shared/run/passAtK.ts";

/** The last evaluation of a run; undefined: it has none. */
export interface Examined {
  readonly last: EvaluationRow | undefined;
  /** Held-out tasks that it was asked for. */
  readonly prompts: number | null;
}
type Group = readonly Examined[];

/** Enough for a sentence; `gradus evaluate` draws five times as often. */
const draws = 2_000;
/** 95 %. */
const z = 1.96;

/**
 * An entry a metric and a group after the first, where both groups have it.
 * @param pause between two intervals, each of which takes some milliseconds
 */
export async function heldOutDifferences(
  groups: readonly Group[],
  random: Random,
  pause: () => Promise<unknown> = () => Promise.resolve(),
): Promise<readonly HeldOutDifference[]> {
  const [base, ...others] = groups;
  if (base === undefined) return [];
  const found: HeldOutDifference[] = [];
  for (const [at, other] of others.entries())
    for (const metric of commonMetrics([...base, ...other])) {
      const own = difference(metric, base, other, random.fork(metric, at));
      if (own !== undefined) found.push({ metric, group: at + 1, ...own });
      await pause();
    }
  return found;
}

function commonMetrics(runs: Group): readonly string[] {
  const evaluated = runs.flatMap(({ last }) => (last === undefined ? [] : [last.metrics]));
  const [first] = evaluated;
  if (first === undefined) return [];
  return heldOutNames(first).filter((name) => evaluated.every((metrics) => metrics[name] !== undefined));
}

function difference(
  metric: string,
  base: Group,
  other: Group,
  random: Random,
): Omit<HeldOutDifference, "metric" | "group"> | undefined {
  const [before, after] = [metricOf(metric, base), metricOf(metric, other)];
  if (before === undefined || after === undefined) return undefined;
  const [own, others] = [byTask(metric, base), byTask(metric, other)];
  if (own !== undefined && others !== undefined) {
    const pairs = [...own].flatMap(([task, value]) => {
      const match = others.get(task);
      return match === undefined ? [] : [{ before: value, after: match }];
    });
    const changes = pairs.map((pair) => pair.after - pair.before);
    const interval = bootstrapMean(changes, random, { draws });
    if (interval !== undefined && pairs.length * 2 >= Math.max(own.size, others.size))
      return {
        before: mean(pairs.map((pair) => pair.before)),
        after: mean(pairs.map((pair) => pair.after)),
        difference: mean(changes),
        ...interval,
        tasks: pairs.length,
        method: "paired",
        reason:
          pairs.length < Math.max(own.size, others.size) ? "only the tasks that both were asked count" : null,
      };
  }
  const tasks = fewestTasks([...base, ...other]);
  if (tasks === undefined) return undefined;
  const reason =
    own === undefined || others === undefined
      ? "a run of an earlier version keeps no results task by task"
      : "they were asked other tasks";
  return {
    before,
    after,
    difference: after - before,
    ...shareDifference(before, after, tasks, z),
    tasks,
    method: "unpaired",
    reason,
  };
}

function metricOf(metric: string, group: Group): number | undefined {
  const values = group.flatMap(({ last }) => last?.metrics[metric] ?? []);
  return values.length === 0 ? undefined : mean(values);
}

function fewestTasks(runs: Group): number | undefined {
  const counts = runs.flatMap(({ last, prompts }) =>
    last === undefined ? [] : [last.results?.tasks.length ?? prompts ?? Number.NaN],
  );
  const fewest = Math.min(...counts);
  return counts.length > 0 && Number.isFinite(fewest) && fewest > 0 ? fewest : undefined;
}

/** The metric of each task, the mean over the group's runs; undefined where a run has no results task by task. */
function byTask(metric: string, group: Group): ReadonlyMap<string, number> | undefined {
  const values = new Map<string, number[]>();
  for (const { last } of group) {
    if (last === undefined) continue;
    if (last.results === undefined) return undefined;
    const { tasks } = last.results;
    for (const [at, value] of taskValues(last.results, metric).entries())
      if (value !== undefined) values.set(tasks[at]!, [...(values.get(tasks[at]!) ?? []), value]);
  }
  return new Map([...values].map(([task, found]) => [task, mean(found)]));
}

/** pass@1 of each arm at the last evaluations, where some run has more than one arm. */
export function armDifferences(groups: readonly Group[]): readonly ArmDifference[] {
  const pattern = /^eval\/(.+)\/pass@1$/;
  const arms = new Set(
    groups
      .flat()
      .flatMap(({ last }) =>
        Object.keys(last?.metrics ?? {}).flatMap((name) => pattern.exec(name)?.slice(1) ?? []),
      ),
  );
  const own = [...arms].filter((arm) => !/^attempt_\d+$/.test(arm)).sort();
  if (own.length < 2) return [];
  return own.map((arm) => ({
    arm,
    values: groups.map((group) => metricOf(`eval/${arm}/pass@1`, group) ?? null),
  }));
}
