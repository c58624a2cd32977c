import type { Finding } from "../report.ts";
import { join, type SourceNode } from "../node.ts";
import { at as nodeAt, type Rule } from "./rule.ts";

/** Every schedule in a tree with its path. */
function* schedules(node: SourceNode, path: string): Generator<{ node: SourceNode; path: string }> {
  if (node.kind === "list")
    for (const [index, item] of node.items.entries()) yield* schedules(item, join(path, index));
  if (node.kind !== "map") return;
  if (node.entries.has("schedule") && node.entries.has("over")) yield { node, path };
  else for (const [key, { value }] of node.entries) yield* schedules(value, join(path, key));
}

const numberAt = (node: SourceNode, key: string): number => {
  const value = nodeAt(node, key);
  return value?.kind === "scalar" && typeof value.value === "number" ? value.value : 0;
};

export const scheduleEnd: Rule = {
  id: "schedule-end",
  check({ stages, capped, report }) {
    if (capped) return;
    const total = stages.reduce((sum, { config }) => sum + (config.kind === "rl" ? config.steps : 0), 0);
    const seen = new Set<SourceNode>();
    for (const view of stages) {
      for (const { node, path } of schedules(view.body, "")) {
        if (seen.has(node) || view.config.kind !== "rl") continue;
        seen.add(node);
        const inStage = node.origin.stage !== undefined;
        const [last, whole] = inStage
          ? [view.config.steps, `the stage \`${view.config.name}\``]
          : [total, "the run"];
        const end = numberAt(node, "start") + numberAt(node, "over");
        if (end <= last) continue;
        const place = nodeAt(node, "over")?.origin ?? node.origin;
        const fixes: Finding["fixes"] =
          last > numberAt(node, "start") && nodeAt(node, "over")?.kind === "scalar"
            ? [
                {
                  title: `Change to ${last - numberAt(node, "start")}`,
                  edits: [{ range: place.range, newText: String(last - numberAt(node, "start")) }],
                  preferred: true,
                },
              ]
            : [];
        const key = join(inStage ? join(view.path, path) : path, "over");
        report({
          rule: scheduleEnd.id,
          severity: "warning",
          message: `This schedule ends at step ${end}, past the end of ${whole} (${last} steps): it never reaches \`to\`.`,
          key,
          at: place,
          fixes,
        });
      }
    }
  },
};
