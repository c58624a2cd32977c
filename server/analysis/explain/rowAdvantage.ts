import { meanAdvantage } from "../../algorithm/advantages/advantageColumns.ts";
import type { Advantages } from "../../algorithm/advantages/tokenAdvantages.ts";
import type { Batch } from "../../core/rollouts.ts";

/** Below this an advantage is 0 but for rounding. */
const nothing = 1e-12;

/** Mean advantage over a row's tokens that train; over the row where none does; NaN where it has no advantage. */
export function rowAdvantage(advantages: Advantages, batch: Batch, row: number): number {
  const mean = meanAdvantage(advantages, batch, row);
  const value = Number.isNaN(mean) ? advantages.rows[row]! : mean;
  return Math.abs(value) < nothing ? 0 : value;
}
