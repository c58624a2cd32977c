/** A number that moves over steps, as the steps at which somebody would look. */
import { scheduleSchema, valueAt } from "../../core/schedule.ts";
import { toJson, type SourceNode } from "../../config/text/node.ts";

/** Its values from its start to its end; nothing where the node is no schedule. */
export function scheduleText(node: SourceNode | undefined): string[] {
  if (node?.kind !== "map" || !node.entries.has("schedule")) return [];
  const read = scheduleSchema.safeParse(toJson(node));
  if (!read.success) return [];
  const schedule = read.data;
  const steps = [
    ...new Set([0, 0.25, 0.5, 0.75, 1].map((part) => Math.round(schedule.start + part * schedule.over))),
  ];
  const values = steps.map((step) => rounded(valueAt(schedule, { step, stageStep: step })));
  const head = `| step | ${steps.join(" | ")} |`;
  const rule = `|---|${steps.map(() => "---:").join("|")}|`;
  const clock = node.origin.stage === undefined ? "" : " Steps count from the start of its stage.";
  return [
    `${head}\n${rule}\n| value | ${values.join(" | ")} |`,
    `Afterwards it keeps the last value.${clock}`,
  ];
}

const rounded = (value: number): string => String(Number(value.toPrecision(4)));
