import { z } from "zod";
import { combine } from "../config/declaration.ts";
import { status, type Batch, type Combined, type RewardColumn, type Rewards } from "../seams.ts";
import { failedRows, rowSum } from "./columns.ts";

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
  const states = Uint8Array.from(total, (value, row) =>
    errored[row] === 1 ? status.error : Number.isNaN(value) ? status.none : status.value,
  );
  const source: RewardColumn = {
    name: "product",
    level: "response",
    status: states,
    offsets: Int32Array.from({ length: batch.rows + 1 }, (_, i) => i),
    values: total,
    errors: new Map(),
  };
  return { sources: [source], total, errored };
}

export const product = combine({
  name: "product",
  summary: "Product of the weighted terms that apply; terms of weight 0 are left out.",
  formula: "r = Π_k w_k r_k",
  sources: [],
  params: z.object({}),
  create: () => multiplied,
});
