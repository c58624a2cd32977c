import { z } from "zod";
import { UserError } from "../../../shared/lib/errors.ts";
import { mask } from "../../core/declaration.ts";
import { rejectionParams, within } from "../../core/rows/rejection.ts";
import type { Batch } from "../../core/rollouts.ts";

/** log π_old / π_sampled per token; 0 where either is unknown: such a token is never rejected. */
function mismatch({ columns: { logp_old, logp_sampled } }: Batch): Float64Array {
  if (logp_old === undefined || logp_sampled === undefined)
    throw new UserError(
      "mask rejected compares the log-probs of trainer and sampler, and the rollouts lack one of them",
      {
        code: "mask-logp",
        action: "Record `logp_old` and `logp_sampled` with the rollouts, or remove the mask.",
      },
    );
  return logp_old.map((old, i) => {
    const log = old - logp_sampled[i]!;
    return Number.isNaN(log) ? 0 : log;
  });
}

export const rejected = mask({
  name: "rejected",
  summary:
    "Tokens or whole responses on which trainer and sampler disagree too much do not train. This is the importance correction `reject` applied before the advantages, so whitening and token counts leave them out too.",
  formula:
    "mask_t = [D within its bounds], D as in the importance correction `reject`, from log π_old − log π_sampled",
  sources: ["verl 0.9.1"],
  params: z.object(rejectionParams),
  create: (params) => (batch) => {
    const kept = within(params, mismatch(batch), { batch, weights: batch.mask });
    return batch.mask.map((one, i) => one & kept[i]!);
  },
});
