/** A recorded rollout as it stands in a rollouts file: `origin` as words, null where a value does not exist. */
import type { RolloutRecordLog } from "../../shared/log/records.ts";
import { toWire, type MaybeNumber, type RolloutRow } from "../../shared/rollouts.ts";

const origins = ["written", "given", "observed"] as const;

/** @param tokens with the arrays that have one number per token */
export function rowOf({ row, columns }: RolloutRecordLog, tokens: boolean): RolloutRow {
  if (!tokens) return row;
  const arrays: Record<string, readonly (MaybeNumber | string)[]> = {};
  for (const [name, column] of Object.entries(columns)) {
    arrays[name] =
      name === "origin"
        ? Array.from(column, (value) => origins[value] ?? "observed")
        : Array.from(column, numberOrNull);
  }
  return { ...row, ...arrays };
}

/** NaN in a column means that the value does not exist. */
const numberOrNull = (value: number): MaybeNumber => (Number.isNaN(value) ? null : toWire(value));
