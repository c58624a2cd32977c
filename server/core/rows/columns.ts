/** Columns that a method reads, with an error that names what is missing. */
import { UserError } from "../../../shared/errors.ts";
import type { Batch } from "../rollouts.ts";

/** @throws UserError where the rollouts lack `logp_sampled` */
export function sampledColumn({ columns }: Batch, who: string): Float64Array {
  if (columns.logp_sampled !== undefined) return columns.logp_sampled;
  throw new UserError(`${who} needs logp_sampled, which was not given`, {
    code: "channel-missing",
    action: "Record logp_sampled with the rollouts, or choose options that do not use it.",
  });
}
