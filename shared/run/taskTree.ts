/** The family tree of the tasks that a run has made, as text. */
import type { MadeTask } from "../protocol/protocol.ts";

const oneLine = (text: string): string => {
  const line = text.trim().replace(/\s+/g, " ");
  return line.length > 60 ? `${line.slice(0, 59)}…` : line;
};

function words(task: MadeTask): string {
  const { tried, seen } = task;
  const rate = tried === null ? "" : `, solved ${tried.successes} of ${tried.rollouts}`;
  const since = seen.rollouts === 0 ? "" : `, in training ${seen.successes} of ${seen.rollouts}`;
  const others = task.parents.length > 1 ? `, also of ${task.parents.slice(1).join(", ")}` : "";
  const { source, step, transform, author, prompt } = task;
  return `${oneLine(prompt)}  (${source}, step ${step}: ${transform} by ${author}${rate}${since}${others})`;
}

/** A line for each task, children indented under their first parent. */
export function taskTree(tasks: readonly MadeTask[]): string[] {
  const made = new Set(tasks.map(({ id }) => id));
  const children = new Map<string, MadeTask[]>();
  for (const task of tasks) {
    const [parent] = task.parents;
    if (parent !== undefined) children.set(parent, [...(children.get(parent) ?? []), task]);
  }
  const below = (id: string, indent: string, above: ReadonlySet<string>): string[] =>
    (children.get(id) ?? []).flatMap((task) =>
      above.has(task.id)
        ? []
        : [indent + words(task), ...below(task.id, `${indent}  `, new Set([...above, task.id]))],
    );
  return [...children.keys()]
    .filter((id) => !made.has(id))
    .flatMap((id) => [oneLine(id), ...below(id, "  ", new Set([id]))]);
}
