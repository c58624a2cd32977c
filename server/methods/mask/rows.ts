/** What masks are made of: a choice of rows or of spans, put on a batch's mask. */
import type { Batch } from "../../core/rollouts.ts";
import type { BatchMask } from "../../core/loss.ts";

/** A mask that leaves whole rows out. */
export const ofRows =
  (keeps: (batch: Batch, row: number) => boolean): BatchMask =>
  (batch) => {
    const mask = batch.mask.slice();
    for (let row = 0; row < batch.rows; row++)
      if (!keeps(batch, row)) mask.fill(0, batch.offsets[row], batch.offsets[row + 1]);
    return mask;
  };

export type TokenRange = readonly [number, number];

/**
 * A mask by spans of each row, [start, end) in tokens of the row.
 * @param spansOf undefined: the row is left as it is
 */
export const bySpans =
  (
    spansOf: (batch: Batch, row: number) => readonly TokenRange[] | undefined,
    keep: "inside" | "outside",
  ): BatchMask =>
  (batch) => {
    const mask = batch.mask.slice();
    for (let row = 0; row < batch.rows; row++) {
      const spans = spansOf(batch, row);
      if (spans === undefined) continue;
      const [from, to] = [batch.offsets[row]!, batch.offsets[row + 1]!];
      const inside = new Uint8Array(to - from);
      for (const [start, end] of spans)
        inside.fill(1, Math.max(0, start), Math.max(0, Math.min(end, to - from)));
      for (let t = from; t < to; t++) if ((inside[t - from] === 1) !== (keep === "inside")) mask[t] = 0;
    }
    return mask;
  };
