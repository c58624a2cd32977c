import { replace, type DiagnosticReport } from "../../config/check/report.ts";
import { perObject } from "../../lib/perObject.ts";
import { join, type SourceNode } from "../../config/text/node.ts";
import { at as nodeAt, firstTime, type Rule } from "../rule.ts";

interface LocatedSchedule {
  readonly node: SourceNode;
  readonly path: string;
}

const none: readonly LocatedSchedule[] = [];

/** Every schedule in a tree with its path from there. Stages share most of theirs. */
const schedulesIn = perObject((node: SourceNode): readonly LocatedSchedule[] => {
  if (node.kind === "map" && node.entries.has("schedule") && node.entries.has("over"))
    return [{ node, path: "" }];
  const found: LocatedSchedule[] = [];
  const add = (key: string | number, value: SourceNode): void => {
    if (value.kind === "scalar") return;
    for (const below of schedulesIn(value))
      found.push({ node: below.node, path: below.path === "" ? String(key) : `${key}.${below.path}` });
  };
  if (node.kind === "map") for (const [key, { value }] of node.entries) add(key, value);
  if (node.kind === "list") for (const [index, item] of node.items.entries()) add(index, item);
  return found.length === 0 ? none : found;
});

const numberAt = (node: SourceNode, key: string): number => {
  const value = nodeAt(node, key);
  return value?.kind === "scalar" && typeof value.value === "number" ? value.value : 0;
};

export const scheduleEnd: Rule = {
  id: "schedule-end",
  title: "Schedule that ends after the run",
  why: "A schedule changes a value over the steps of the run, or, inside a stage, over the steps of that stage. A schedule that ends after they do never reaches `to`.",
  check({ stages, capped, report }) {
    if (capped) return;
    const total = stages.reduce((sum, { config }) => sum + (config.kind === "rl" ? config.steps : 0), 0);
    const first = firstTime();
    for (const view of stages) {
      if (view.config.kind !== "rl") continue;
      for (const { node, path } of schedulesIn(view.body)) {
        if (!first(node)) continue;
        const inStage = node.origin.stage !== undefined;
        const [last, whole] = inStage
          ? [view.config.steps, `the stage \`${view.config.name}\``]
          : [total, "the run"];
        const end = numberAt(node, "start") + numberAt(node, "over");
        if (end <= last) continue;
        const place = nodeAt(node, "over")?.origin ?? node.origin;
        const fixes: DiagnosticReport["fixes"] =
          last > numberAt(node, "start") && nodeAt(node, "over")?.kind === "scalar"
            ? [
                replace(
                  place.range,
                  String(last - numberAt(node, "start")),
                  `Change to ${last - numberAt(node, "start")}`,
                ),
              ]
            : [];
        const key = join(inStage ? join(view.path, path) : path, "over");
        report({
          rule: scheduleEnd.id,
          severity: "warning",
          message: `This schedule ends at step ${end}, past the end of ${whole} (${last} steps), so it never reaches \`to\`.`,
          key,
          at: place,
          fixes,
        });
      }
    }
  },
};
