import type { DrawnTask } from "./draws.ts";

/** Names the groups of a step: the task's id, numbered where a task comes again. @param taken names; filled */
export function namedGroups<One extends Pick<DrawnTask, "task">>(
  drawn: readonly One[],
  taken: Set<string>,
): (One & { readonly group: string })[] {
  return drawn.map((one) => {
    let group = one.task.id;
    for (let n = 2; taken.has(group); n++) group = `${one.task.id}~${n}`;
    taken.add(group);
    return { ...one, group };
  });
}
