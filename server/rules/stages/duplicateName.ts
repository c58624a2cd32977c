import type { SourceEdits } from "../../config/text/edits.ts";
import { nameOf } from "../../config/check/method.ts";
import { join, type SourceNode } from "../../config/text/node.ts";
import { type Report } from "../../config/check/report.ts";
import { at as nodeAt, type Rule } from "../rule.ts";

/** Two tasks or two stages of one name: overrides and arms could not tell them apart. */
export const duplicateName: Rule = {
  id: "duplicate-name",
  title: "Duplicate name",
  why: "Overrides of a stage, `--set`, arms and metrics address tasks and stages by name. If two share a name, it is ambiguous.\n\nA task's name is its environment or file, unless it has a `name`.",
  check({ root, stages, report, edits }) {
    duplicates(nodeAt(root, "tasks"), "task", "tasks", report, edits);
    duplicates(nodeAt(root, "stages"), "stage", "stages", report, edits);
    for (const view of stages) {
      const tasks = nodeAt(view.body, "tasks");
      if (tasks?.origin.stage !== undefined)
        duplicates(tasks, "task", `${view.path}.tasks`, report, undefined);
    }
  },
};

function duplicates(
  list: SourceNode | undefined,
  what: "task" | "stage",
  path: string,
  report: Report,
  edits: SourceEdits | undefined,
): void {
  if (list?.kind !== "list") return;
  const names = list.items.map((item) => nameOf(item, what));
  const free = freeNames(names);
  /** The first of each name. */
  const seen = new Map<string, SourceNode>();
  list.items.forEach((item, index) => {
    const name = names[index];
    if (name === undefined) return;
    const before = seen.get(name);
    if (before !== undefined) {
      const written = nodeAt(item, "name")?.origin ?? item.origin;
      const message = `Two ${what}s are called \`${name}\`: give this one a \`name\` of its own.`;
      const other = free(name);
      // Items that a parent brought in are not at their index in this file.
      const own =
        edits?.at([path, index])?.origin.range === written.range || edits?.at([path, index]) === item;
      const fileFixes = own ? [edits?.set([path, index, "name"], other, `Name it \`${other}\``)] : [];
      const related = [{ at: before.origin, message: `the first \`${name}\`` }];
      report({ rule: duplicateName.id, message, key: join(path, index), at: written, fileFixes, related });
    } else seen.set(name, item);
  });
}

/** A name with the lowest free number, searched once for each name. */
function freeNames(names: readonly (string | undefined)[]): (name: string) => string {
  const taken = new Set(names);
  const found = new Map<string, string>();
  return (name) => {
    let number = 2;
    while (!found.has(name) && taken.has(`${name}-${number}`)) number++;
    const free = found.get(name) ?? `${name}-${number}`;
    found.set(name, free);
    return free;
  };
}
