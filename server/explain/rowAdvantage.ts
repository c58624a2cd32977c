import type { Advantages } from "../algorithm.ts";
import type { Batch } from "../seams.ts";

/** Mean advantage over a row's tokens that train; over the row where none does; NaN where it has no advantage. */
export function rowAdvantage({ tokens, exists, rows }: Advantages, batch: Batch, row: number): number {
  let [sum, count] = [0, 0];
  for (let i = batch.offsets[row]!; i < batch.offsets[row + 1]!; i++) {
    if (batch.mask[i] !== 1 || exists[i] !== 1) continue;
    sum += tokens[i]!;
    count += 1;
  }
  return count === 0 ? rows[row]! : sum / count;
}
