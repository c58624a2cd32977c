/** Columns that a baseline reads, with an error that says what is missing. */
import { UserError } from "../../../shared/lib/errors.ts";
import type { Batch } from "../../core/rollouts.ts";
import type { FloatColumn } from "../../core/rows/columns.ts";
import type { Channel, Stats } from "../../core/policy.ts";

/** @throws UserError where no rollout has the column */
export function recordedColumn(batch: Batch, key: FloatColumn, who: string): Float64Array {
  const values = batch.columns[key];
  if (values === undefined)
    throw new UserError(`${who} needs ${key} of every token that trains, and no rollout has it`, {
      code: "advantage-column",
      action: `Record ${key} with the rollouts, or choose another advantage.baseline.`,
    });
  return values;
}

/** A value head's column: as recorded in `values`, where it is the head that is asked for, else as scored. */
export function headColumn(batch: Batch, stats: Stats, head: string, who: string): Float64Array {
  const channel: Channel = `head:${head}`;
  const values = stats[channel] ?? (head === "value" ? batch.columns.values : undefined);
  if (values === undefined)
    throw new UserError(`${who} needs the values of head ${head}, and there are none`, {
      code: "advantage-values",
      action: `Record values with the rollouts, or give the model the head: model.value_heads: [${head}].`,
    });
  return values;
}

/** @throws UserError for a value that does not exist or is not finite */
export function finite(value: number, what: string, batch: Batch, row: number): number {
  if (Number.isFinite(value)) return value;
  const { group, index } = batch.records[row]!;
  throw new UserError(`${what} of rollout ${index} of group ${group} is ${value}`, {
    code: "advantage-value",
    action: "Every token that trains needs a finite value: record them all, or choose another baseline.",
  });
}

/** @throws UserError where the channel was not scored */
export function scoredColumn(stats: Stats, channel: Channel, who: string): Float64Array {
  const values = stats[channel];
  if (values === undefined)
    throw new UserError(`${who} needs ${channel}, and the rollouts have none`, {
      code: "channel-missing",
      action:
        "Give `kl` an entry of that model with that `shown`, or record its log-probs with the rollouts.",
    });
  return values;
}
