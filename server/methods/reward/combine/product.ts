import { z } from "zod";
import { combine } from "../../../core/declaration.ts";
import type { Batch } from "../../../core/rollouts.ts";
import { status, type Combined, type Rewards } from "../../../core/reward.ts";
import { failedRows, oneTerm, rowSum } from "../columns.ts";

function multiplied({ terms, weights }: Rewards, batch: Batch): Combined {
  const total = new Float64Array(batch.rows).fill(Number.NaN);
  const errored = failedRows({ terms, weights }, batch.rows);
  terms.forEach((term, i) => {
    const weight = weights[i]!;
    if (weight === 0) return;
    for (let row = 0; row < batch.rows; row++) {
      if (term.status[row] !== status.value || errored[row] !== 0) continue;
      total[row] = (Number.isNaN(total[row]!) ? 1 : total[row]!) * weight * rowSum(term, row);
    }
  });
  return { sources: [oneTerm("product", total, errored)], total, errored };
}

export const product = combine({
  name: "product",
  summary: "Product of the weighted terms that apply; terms of weight 0 are left out.",
  formula: "r = Π_k w_k r_k",
  sources: [],
  params: z.object({}),
  create: () => multiplied,
});
