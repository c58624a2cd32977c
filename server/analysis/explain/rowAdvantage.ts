import { meanAdvantage } from "../../algorithm/advantages/advantageColumns.ts";
import type { Advantages } from "../../algorithm/advantages/tokenAdvantages.ts";
import type { Batch } from "../../core/rollouts.ts";

/** Mean advantage over a row's tokens that train; over the row where none does; NaN where it has no advantage. */
export function rowAdvantage(advantages: Advantages, batch: Batch, row: number): number {
  const mean = meanAdvantage(advantages, batch, row);
  return Number.isNaN(mean) ? advantages.rows[row]! : mean;
}
