import { UserError } from "../../../shared/lib/errors.ts";
import type { Channel, Stats } from "../../core/policy.ts";

/** A channel that a loss needs; what lacks it is named. */
export function column(stats: Stats, channel: Channel, who: string): Float64Array {
  const values = stats[channel];
  if (values === undefined)
    throw new UserError(`${who} needs ${channel}, and the rollouts have none`, {
      code: "channel-missing",
      action: "Record it with the rollouts, or choose options that do not use it.",
    });
  return values;
}
