/** What the rollouts of a step amount to by group, and their advantages where a config gives them. */
import type { GroupRecord } from "../../../shared/log/records.ts";
import { fromWire, type RolloutRow } from "../../../shared/rollouts/rollouts.ts";
import type { Estimates } from "./estimates.ts";

/** A rollout that gets this much counts as a success where no config says what one is. */
const success = 1;

/** @param rows of one step */
export function groupRecords(rows: readonly RolloutRow[], estimates: Estimates | undefined): GroupRecord[] {
  const groups = new Map<string, number[]>();
  rows.forEach(({ group }, at) => {
    const members = groups.get(group);
    if (members === undefined) groups.set(group, [at]);
    else members.push(at);
  });
  const succeeded = estimates?.kind === "estimated" ? estimates.success : undefined;
  return [...groups].map(([group, members]) => {
    const { step, task } = rows[members[0]!]!;
    return {
      kind: "group",
      step,
      group,
      task: task?.id ?? group,
      arm: task?.arm ?? "",
      admitted: true,
      reason: null,
      successes: members.filter((at) => succeeded?.[at] ?? fromWire(rows[at]!.reward ?? null) >= success)
        .length,
      size: members.length,
      signal: null,
    };
  });
}

/** The recorded advantage stays. @param at which of the step's rows it is */
export function withAdvantage(row: RolloutRow, at: number, estimates: Estimates | undefined): RolloutRow {
  if ((row.advantage ?? null) !== null || estimates?.kind !== "estimated") return row;
  return { ...row, advantage: estimates.advantages[at] ?? null };
}
