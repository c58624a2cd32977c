/** Each prompt with a response to another: how far the policy has moved where it was not asked to (KTO). */
import { selectRows } from "../../../core/rows/batch.ts";
import type { Model } from "../../../core/basics.ts";
import type { Batch } from "../../../core/rollouts.ts";
import type { Models } from "../../../core/policy.ts";

/** For each row the next one, in a circle, of another task; −1 where there is none, or it is too long after this prompt. */
function partnersOf(batch: Batch, context: number): Int32Array {
  const prompts = batch.trainContext ?? batch.context;
  const length = (offsets: Int32Array, row: number): number => offsets[row + 1]! - offsets[row]!;
  return Int32Array.from({ length: batch.rows }, (_, row) => {
    // As many rows on as the group has, so that the rows of a group do not all meet the same response.
    const size = batch.group.reduce((sum, group) => sum + (group === batch.group[row] ? 1 : 0), 0);
    for (let by = size; by < size + batch.rows; by++) {
      const other = (row + by) % batch.rows;
      const { task } = batch.records[other]!;
      if (batch.group[other] === batch.group[row] || task.id === batch.records[row]!.task.id) continue;
      const own = length(batch.offsets, other);
      return own > 0 && length(prompts.offsets, row) + own <= context ? other : -1;
    }
    return -1;
  });
}

/** Σ_t log π(y_t | x) − log π_anchor(y_t | x) of those responses, per row; NaN where a row has no partner. */
export async function mismatchedRatios(models: Models, batch: Batch, anchor: Model): Promise<Float64Array> {
  const policy = models.get("policy");
  const partners = partnersOf(batch, policy.context);
  const ratios = new Float64Array(batch.rows).fill(Number.NaN);
  const rows = [...partners.keys()].filter((row) => partners[row]! >= 0);
  if (rows.length === 0) return ratios;
  const { trainContext: _, ...responses } = selectRows(
    batch,
    rows.map((row) => partners[row]!),
  );
  const { context, trainContext = context } = selectRows(batch, rows);
  const pairs: Batch = { ...responses, context: trainContext };
  const { logp: now } = await policy.score(pairs, { model: "policy", channels: ["logp"] });
  const { logp: other } = await models
    .get(models.names.includes(anchor) ? anchor : "policy")
    .score(pairs, { model: anchor, channels: ["logp"] });
  rows.forEach((row, i) => {
    ratios[row] = 0;
    for (let t = pairs.offsets[i]!; t < pairs.offsets[i + 1]!; t++)
      if (pairs.mask[t] === 1) ratios[row]! += now![t]! - other![t]!;
  });
  return ratios;
}
