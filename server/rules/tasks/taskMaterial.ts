/** What tasks of a source have besides their prompts, as far as the config tells. */
import type { TaskConfig } from "../../core/config/resolved.ts";
import { environmentOf } from "./environments.ts";

export type TaskMaterial = "solution" | "answer";

/** Whether each of them has a written solution: what imitates solutions stops at one without. */
export function hasEverySolution(task: TaskConfig): boolean {
  const environment = environmentOf(task);
  return environment.kind === "made" ? environment.solved : hasMaterial(task, "solution");
}

/** A dataset has what its keys say, and its answer for a solution; a built-in environment what the tasks have that it draws. */
export function hasMaterial(task: TaskConfig, what: TaskMaterial): boolean {
  const { source } = task;
  const { answer, solution } = source.params;
  if (source.declaration.name === "dataset")
    return answer !== undefined || (what === "solution" && solution !== undefined);
  const environment = environmentOf(task);
  if (environment.kind !== "made") return true;
  return what === "solution" ? environment.shortestSolution.size > 0 : environment.answers;
}
