/** The tasks that a reward is tried on: every row of a config's files, and a sample of tasks that are made. */
import { shownPath } from "../../lib/texts/shownPath.ts";
import { UserError } from "../../../shared/lib/errors.ts";
import { openSources } from "../../algorithm/curriculum/openSources.ts";
import { contextOf } from "../../algorithm/algorithm.ts";
import type { StageBody, TaskConfig } from "../../core/config/resolved.ts";
import type { RunConfig } from "../../core/config/runConfig.ts";
import { datasetOf } from "../../core/datasetLines.ts";
import type { ListedTask, TaskSource } from "../../core/slots/tasks.ts";
import type { Task } from "../../core/task.ts";
import { isHubDataset } from "../../lib/datasets/name.ts";
import { randomStream, type Random } from "../../lib/random.ts";
import { noModels } from "../rescore/noModels.ts";

/** Where a task stands; without a file, an environment made it. */
export type CheckedTask = { readonly task: Task } & Partial<Omit<ListedTask, "task">>;

/** Tasks drawn of an environment for each value of its arms. */
const drawn = 64;

/** What tasks are drawn by, and whose they are. */
type TasksOf = Pick<RunConfig, "seed" | "file" | "builtRows">;

/** Data of which no task can be tried. */
export interface UnreadData {
  /** As the config names it. */
  readonly data: string;
  readonly error: UserError;
}

export interface ReadTasks {
  readonly tasks: readonly CheckedTask[];
  readonly unread: readonly UnreadData[];
}

/**
 * Every task of `body`, as far as its data can be read: a file that cannot costs its own tasks alone. The tasks of a
 * prompt's file come in the file's order.
 */
export function readTasks(config: TasksOf, body: StageBody): ReadTasks {
  const random = randomStream(config.seed, "reward-checks");
  const context = contextOf(body, { random, models: noModels });
  const unread: UnreadData[] = [];
  // What a run makes of other tasks is made in the run.
  const written = body.tasks.filter(({ generate }) => generate === undefined);
  const sources = written.flatMap((task) => {
    try {
      return openSources([task], context);
    } catch (error) {
      if (!(error instanceof UserError)) throw error;
      unread.push({ data: dataName(task), error });
      return [];
    }
  });
  return { tasks: sources.flatMap(({ source }) => tasksOf(source, config, random)), unread };
}

const dataName = ({ name, source }: TaskConfig): string => {
  const data = datasetOf(source);
  return data === undefined ? name : isHubDataset(data) ? data : shownPath(source.folder, data);
};

/** Rows that a script has made are of that script: the file that holds them is nobody's. */
function tasksOf(source: TaskSource, { file, builtRows }: TasksOf, random: Random): readonly CheckedTask[] {
  if (source.listed !== undefined)
    return source
      .listed()
      .map((one) => (one.file === builtRows ? { task: one.task, file, row: one.row } : one));
  const values = source.values.length === 0 ? [undefined] : source.values;
  const made = values.flatMap((value) =>
    Array.from({ length: drawn }, () => source.draw("train", value, random)).filter((task) => task !== null),
  );
  return [...new Map(made.map((task) => [task.id, { task }])).values()];
}

/** Every task of `body`. @throws UserError where data cannot be read */
export function checkedTasks(config: TasksOf, body: StageBody): readonly CheckedTask[] {
  const { tasks, unread } = readTasks(config, body);
  if (unread[0] !== undefined) throw unread[0].error;
  return tasks;
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
