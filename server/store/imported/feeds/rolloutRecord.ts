/** A row of the rollout format as the run's log has it: its lists as columns. */
import type { LogRecord } from "../../../../shared/log/records.ts";
import { columns, logColumns, type LogColumn } from "../../../../shared/rollouts/columns.ts";
import { origin, type Origin } from "../../../../shared/rollouts/fields.ts";
import { fromWire, type MaybeNumber, type RolloutRow } from "../../../../shared/rollouts/rollouts.ts";

type Arrays = Extract<LogRecord, { kind: "rollout" }>["columns"];

export function rolloutRecord(row: RolloutRow, index: number): Extract<LogRecord, { kind: "rollout" }> {
  const { step } = row;
  if (row.tokens === undefined) return { kind: "rollout", step, index, row, columns: {} };
  const lists = new Set<string>(logColumns);
  const rest = Object.fromEntries(Object.entries(row).filter(([name]) => !lists.has(name)));
  const found = logColumns.flatMap((name) => {
    const list = row[name];
    return list === undefined ? [] : [[name, arrayOf(name, list)] as const];
  });
  const arrays: Arrays = Object.fromEntries(found);
  return {
    kind: "rollout",
    step,
    index,
    row: { ...rest, step, group: row.group, index: row.index },
    columns: arrays,
  };
}

function arrayOf(name: LogColumn, list: readonly (MaybeNumber | Origin)[]): NonNullable<Arrays[LogColumn]> {
  const numbers = list.map((value) =>
    value === "written" || value === "given" || value === "observed" ? origin[value] : fromWire(value),
  );
  const { dtype } = columns[name];
  if (dtype === "uint8") return Uint8Array.from(numbers);
  // An id that is missing is -1; a number that is, is none.
  if (dtype === "int32") return Int32Array.from(numbers, (value) => (Number.isNaN(value) ? -1 : value));
  return Float64Array.from(numbers);
}
