import type { SourceEdits } from "../edits.ts";
import { nameOf } from "../method.ts";
import { join, type SourceNode } from "../node.ts";
import { type Report } from "../report.ts";
import { at as nodeAt, type Rule } from "./rule.ts";

/** Two tasks or two stages of one name: overrides and arms could not tell them apart. */
export const duplicateName: Rule = {
  id: "duplicate-name",
  title: "Two things of one name",
  why: "Overrides of a stage, `--set`, arms and metrics address tasks and stages by their names. Where two have the same one, nobody can tell which is meant.\n\nA task's name is its environment or file, unless it has a `name`.",
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
  const seen = new Set<string>();
  list.items.forEach((item, index) => {
    const name = nameOf(item, what);
    if (name === undefined) return;
    if (seen.has(name)) {
      const written = nodeAt(item, "name")?.origin ?? item.origin;
      const message = `Two ${what}s are called \`${name}\`: give this one a \`name\` of its own.`;
      const free = freeName(
        name,
        list.items.map((item) => nameOf(item, what)),
      );
      // Items that a parent brought in are not at their index in this file.
      const own =
        edits?.at([path, index])?.origin.range === written.range || edits?.at([path, index]) === item;
      const mends = own ? [edits?.set([path, index, "name"], free, `Name it \`${free}\``)] : [];
      const first = list.items.find((item) => nameOf(item, what) === name)?.origin;
      const related = [{ at: first, message: `the first \`${name}\`` }];
      report({ rule: duplicateName.id, message, key: join(path, index), at: written, mends, related });
    }
    seen.add(name);
  });
}

function freeName(name: string, taken: readonly (string | undefined)[]): string {
  for (let number = 2; ; number++) if (!taken.includes(`${name}-${number}`)) return `${name}-${number}`;
}
