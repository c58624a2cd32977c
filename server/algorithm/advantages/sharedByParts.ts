/** Episodes of several rows: each row trains with the advantage of the last, which alone has a reward. */
import { isEarlierPart, type Batch } from "../../core/rollouts.ts";
import { lastParts } from "../../core/rows/parts.ts";
import { RowAdvantages } from "./overTokens.ts";
import type { Advantages } from "./tokenAdvantages.ts";

/** Earlier rows count for no baseline and no spread: they have no reward. @returns the same where no episode has several rows */
export function sharedByParts(found: Advantages, batch: Batch): Advantages {
  if (!batch.records.some(isEarlierPart)) return found;
  const rows = Float64Array.from(lastParts(batch), (last) => found.rows[last] ?? Number.NaN);
  if (found.perRow !== undefined) return new RowAdvantages(rows, batch, found.returns);
  const [tokens, exists] = [found.tokens.slice(), found.exists.slice()];
  batch.records.forEach((record, row) => {
    if (!isEarlierPart(record)) return;
    for (let t = batch.offsets[row]!; t < batch.offsets[row + 1]!; t++) {
      const has = batch.mask[t] === 1 && !Number.isNaN(rows[row]!);
      [tokens[t], exists[t]] = has ? [rows[row]!, 1] : [0, 0];
    }
  });
  return { tokens, rows, exists, ...(found.returns && { returns: found.returns }) };
}
