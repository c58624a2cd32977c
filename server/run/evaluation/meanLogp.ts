import { origin } from "../../core/rollouts.ts";
import type { Batch } from "../../core/rollouts.ts";

/** Mean over the tokens of a row that the policy wrote; NaN of none. @param logp a value a token */
export function meanLogp(batch: Batch, logp: ArrayLike<number> | undefined, row: number): number {
  let [sum, count] = [0, 0];
  for (let at = batch.offsets[row]!; at < batch.offsets[row + 1]!; at++) {
    if (batch.origin[at] !== origin.written || logp === undefined) continue;
    sum += logp[at]!;
    count++;
  }
  return sum / count;
}
