/** The tasks that a reward is tried on: every row of a config's files, and a sample of tasks that are made. */
import { openSources } from "../../algorithm/curriculum/openSources.ts";
import { contextOf } from "../../algorithm/algorithm.ts";
import type { StageBody } from "../../core/config/resolved.ts";
import type { RunConfig } from "../../core/config/runConfig.ts";
import type { ListedTask } from "../../core/slots/tasks.ts";
import type { Task } from "../../core/task.ts";
import { randomStream } from "../../lib/random.ts";
import { noModels } from "../rescore/noModels.ts";

/** Where a task stands; without a file, an environment made it. */
export type CheckedTask = { readonly task: Task } & Partial<Omit<ListedTask, "task">>;

/** Tasks drawn of an environment for each value of its arms. */
const drawn = 64;

/** Every task of `body`. The tasks of a prompt's file come in the file's order. @throws UserError where a file cannot be read */
export function checkedTasks({ seed, file, builtRows }: RunConfig, body: StageBody): CheckedTask[] {
  const random = randomStream(seed, "reward-checks");
  const sources = openSources(body.tasks, contextOf(body, { random, models: noModels }));
  return sources.flatMap(({ source }): readonly CheckedTask[] => {
    if (source.listed !== undefined)
      return source
        .listed()
        .map((one) => (one.file === builtRows ? { task: one.task, file, row: one.row } : one));
    const values = source.values.length === 0 ? [undefined] : source.values;
    const made = values.flatMap((value) =>
      Array.from({ length: drawn }, () => source.draw("train", value, random)).filter(
        (task) => task !== null,
      ),
    );
    return [...new Map(made.map((task) => [task.id, { task }])).values()];
  });
}

/** `body` with other data in the place of its first file's; undefined: it has none. */
export function onDataset(body: StageBody, dataset: string): StageBody | undefined {
  const task = body.tasks.find(({ source }) => source.params["dataset"] !== undefined);
  if (task === undefined) return undefined;
  const { source } = task;
  return { ...body, tasks: [{ ...task, source: { ...source, params: { ...source.params, dataset } } }] };
}

/** At most so many of a list, evenly spread over it. */
export const spread = <Item>(items: readonly Item[], most: number): Item[] =>
  items.length <= most
    ? [...items]
    : Array.from({ length: most }, (_, i) => items[Math.floor((i * items.length) / most)]!);
