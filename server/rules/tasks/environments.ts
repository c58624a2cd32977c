import { UserError } from "../../../shared/lib/errors.ts";
import { create } from "../../core/create.ts";
import { keyedRandom } from "../../core/config/keyedRandom.ts";
import { perObject } from "../../lib/perObject.ts";
import type { Task } from "../../core/task.ts";
import type { Knob, TaskSource } from "../../core/slots/tasks.ts";
import type { TaskConfig } from "../../core/config/resolved.ts";
import { eachStage, reportAt, type Rule } from "../rule.ts";
import { statsOf } from "../../lib/inputFile.ts";

/** What a built-in environment is asked about itself: our own code, run on the config's parameters. */
export type Environment =
  | {
      readonly kind: "made";
      readonly values: readonly string[];
      /** Characters. */ readonly longestPrompt: number;
      /** Of some tasks. */ readonly prompts: readonly string[];
      /** Of each value that was drawn, the least characters of a written solution. */
      readonly shortestSolution: ReadonlyMap<string, number>;
      /** Whether each task that was drawn has a written solution. */
      readonly solved: boolean;
      /** Whether it answers turns itself, with `rollout.shape: environment`. */
      readonly plays: boolean;
      /** Whether its tasks have an answer to compare with. */
      readonly answers: boolean;
      /** Fields of its tasks' data. */
      readonly fields: readonly string[];
      /** What can vary from task to task. */
      readonly knobs: readonly Knob[] | undefined;
    }
  | { readonly kind: "refused"; readonly message: string }
  /** A dataset, a file that is not there, tasks of another program, or tasks that are made: they are there once the run goes on. */
  | { readonly kind: "unread" };

const draws = 32;
/** By method and parameters: most loads ask again about what the last one had. */
const known = new Map<string, Environment>();
const mostKnown = 2_000;

export const environmentOf = ({ source }: Pick<TaskConfig, "source">): Environment => environmentIn(source);

/** Whether nothing answers the turns of its episodes but tools. */
export function hasNoPlay(task: TaskConfig): boolean {
  const found = environmentOf(task);
  return task.play === undefined && found.kind !== "refused" && !(found.kind === "made" && found.plays);
}

const environmentIn = perObject((source: TaskConfig["source"]): Environment => {
  if (["dataset", "generated", "reasoning_gym"].includes(source.declaration.name)) return { kind: "unread" };
  const { corpus } = source.params;
  const file = typeof corpus === "string" ? statsOf(corpus) : null;
  // Another rule reports a missing corpus. The file may exist the next time.
  if (file === undefined) return { kind: "unread" };
  const key = JSON.stringify([source.declaration.name, source.params, file?.mtimeMs, file?.size]);
  const found = known.get(key) ?? ask(source);
  if (known.size >= mostKnown) known.clear();
  known.set(key, found);
  return found;
});

function ask(source: TaskConfig["source"]): Environment {
  try {
    const random = keyedRandom("a config's environment");
    const tasks = create(source, { random, max_tokens: 1, group: 1 });
    const drawn = Array.from(
      { length: draws },
      (_, i) => tasks.draw("train", undefined, random.fork(i)) ?? [],
    ).flat();
    return {
      kind: "made",
      values: tasks.values,
      longestPrompt: Math.max(0, ...drawn.map(({ prompt }) => prompt.length)),
      prompts: drawn.map(({ prompt }) => prompt),
      shortestSolution: shortest(drawn, tasks),
      solved: drawn.every(({ solution }) => solution !== undefined),
      plays: tasks.play !== undefined && tasks.play.optional !== true,
      answers: drawn.some(({ answer }) => answer !== undefined),
      fields: Object.keys(drawn[0]?.data ?? {}),
      knobs: tasks.drawAt === undefined ? undefined : tasks.box,
    };
  } catch (error) {
    if (!(error instanceof UserError)) throw error;
    const { action } = error.detail;
    return {
      kind: "refused",
      message: action === undefined ? `${error.message}.` : `${error.message}. ${action}`,
    };
  }
}

function shortest(drawn: readonly Task[], source: TaskSource): ReadonlyMap<string, number> {
  const found = new Map<string, number>();
  for (const task of drawn) {
    if (task.solution === undefined) continue;
    const value = source.valueOf(task) ?? "";
    found.set(value, Math.min(found.get(value) ?? Number.POSITIVE_INFINITY, [...task.solution].length));
  }
  return found;
}

/** Parameters that are each allowed and together make no task. */
export const environment: Rule = {
  id: "environment",
  title: "Parameters that leave no task",
  why: "Each parameter of the environment is allowed, but together they leave no task to draw. This rule builds the environment as a run would, and the environment reports it.",
  check: eachStage((view, model) => {
    for (const [index, task] of view.config.body.tasks.entries()) {
      const found = environmentOf(task);
      if (found.kind !== "refused") continue;
      const path = ["tasks", String(index)];
      const paths = [[...path, "env"], [...path, "corpus"], [...path, "harbor"], path];
      reportAt(model, view, environment, paths, { key: `tasks.${task.name}`, message: found.message });
    }
  }),
};
