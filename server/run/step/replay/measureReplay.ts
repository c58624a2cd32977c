/** Measures of what was replayed. */
import type { KeptRow } from "../../../methods/replay/keptRow.ts";
import type { Replayed, StepReplay } from "../context.ts";
import { GrowingLog } from "./growingLog.ts";

export function measureReplay(
  { memory, source }: StepReplay,
  replayed: readonly Replayed[],
  step: number,
): Record<string, number> {
  if (source.kind === "none") return {};
  const rows = replayed.flatMap((one) => one.rows);
  const over = (value: (row: KeptRow) => number): number =>
    rows.reduce((sum, row) => sum + value(row), 0) / rows.length;
  return {
    "replay/size": memory.rows.length,
    "replay/rows": rows.length,
    ...(memory.log instanceof GrowingLog && {
      "replay/read": memory.log.latest?.read ?? 0,
      "replay/left_out": memory.log.latest?.leftOut ?? 0,
    }),
    ...(rows.length === 0 || source.kind === "file" ? {} : { "replay/age": over((row) => step - row.step) }),
    ...(rows.length === 0 || rows.every(({ reward }) => Number.isNaN(reward))
      ? {}
      : { "replay/reward": over(({ reward }) => (Number.isNaN(reward) ? 0 : reward)) }),
  };
}
