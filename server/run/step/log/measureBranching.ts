/** Where branches left, and what became of them. */
import { outcome } from "../../../algorithm/rewards/rewards.ts";
import { mean } from "../../../../shared/lib/mean.ts";
import type { Selected, StepContext } from "../context.ts";

export function measureBranching(
  { stage }: Pick<StepContext, "stage">,
  { batch, scored }: Pick<Selected, "batch" | "scored">,
): Record<string, number> {
  if (stage.branching === undefined) return {};
  const rows = new Map(batch.records.map(({ index }, row) => [`${batch.group[row]} ${index}`, row]));
  const left = batch.records.flatMap(({ parent }, row) => {
    const above = parent && rows.get(`${batch.group[row]} ${parent.index}`);
    return parent === undefined || above === undefined ? [] : [{ row, above, token: parent.token }];
  });
  if (left.length === 0) return { "branch/rollouts": 0 };
  const { offsets, columns } = batch;
  const entropies = left.map(({ above, token }) => columns.entropy?.[offsets[above]! + token] ?? Number.NaN);
  return {
    "branch/rollouts": left.length / batch.rows,
    "branch/place": mean(left.map(({ above, token }) => token / (offsets[above + 1]! - offsets[above]!))),
    "branch/success": mean(left.map(({ row }) => (scored.success[row] === outcome.right ? 1 : 0))),
    ...(entropies.some(Number.isNaN) ? {} : { "branch/entropy": mean(entropies) }),
  };
}
