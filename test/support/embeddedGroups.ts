/** What an embedded run has drawn and measured, for comparison with a curriculum that another trainer follows. */
import type { LogRecord } from "../../shared/log/records.ts";
import { ofKind } from "./runFolder.ts";

type RolloutRecord = Extract<LogRecord, { kind: "rollout" }>;

export interface RunGroup {
  readonly id: string;
  readonly task: string;
  readonly rows: readonly RolloutRecord[];
}

/** By step, the run's groups as they were drawn. */
export function groupsOf(records: readonly LogRecord[]): RunGroup[][] {
  const rows = ofKind(records, "rollout").filter(({ row }) => (row.use ?? "train") === "train");
  const steps = [...new Set(rows.map(({ step }) => step))];
  return steps.map((step) => {
    const own = rows.filter((one) => one.step === step);
    return [...new Set(own.map(({ row }) => row.group))].map((id) => {
      const members = own.filter(({ row }) => row.group === id);
      return { id, task: members[0]!.row.task?.id ?? "", rows: members };
    });
  });
}

export const admittedOf = (groups: readonly RunGroup[]): string[] =>
  groups.filter(({ rows }) => rows[0]!.row.admitted !== false).map(({ id }) => id);

/** The metrics of the curriculum that a run has logged of a step. */
export function curriculumMetrics(records: readonly LogRecord[], step: number): object {
  const { values } = ofKind(records, "metrics").find((one) => one.step === step)!;
  return Object.fromEntries(Object.entries(values).filter(([metric]) => metric.startsWith("curriculum/")));
}

/** The run's advantages are of float32 rewards where a float column keeps them: the rest of the digits is rounding. */
export const rounded = (values: object): object =>
  Object.fromEntries(
    Object.entries(values)
      .map(([key, value]) => [key, Number(Number(value).toPrecision(9))] as const)
      .sort(([a], [b]) => (a < b ? -1 : 1)),
  );
