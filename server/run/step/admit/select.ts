/** Which of a step's admitted rollouts train. */
import { lengthOfRow, rowsOfGroups } from "../../../core/rows/batch.ts";
import { randomStream } from "../../../lib/random.ts";
import { outcome } from "../../../algorithm/rewards/rewards.ts";
import type { Batch } from "../../../core/rollouts.ts";
import { lastParts } from "../../../core/rows/parts.ts";
import type { Candidate } from "../../../core/slots/replay.ts";
import type { Selected, StepContext, Valued } from "../context.ts";

/**
 * The step's rollouts with those that selection leaves out. Under `statistics: kept` they are not admitted either, so
 * that no baseline sees them; otherwise they count for their groups and do not train.
 */
export function select({ stage, session, step }: StepContext, valued: Valued): Selected {
  const { selection, config } = stage.replay;
  const { batch, scored, admitted } = valued;
  if (config.select.declaration.name === "all") return { ...valued, dropped: new Set() };
  const candidate = (row: number): Candidate => ({
    reward: scored.combined.errored[row] === 1 ? Number.NaN : scored.combined.total[row]!,
    success: scored.success[row] === outcome.unknown ? Number.NaN : scored.success[row]!,
    length: lengthOfRow(batch, row),
  });
  const inside = new Set(admitted);
  const sets =
    selection.over === "step"
      ? [admitted]
      : rowsOfGroups(batch).map((rows) => rows.filter((row) => inside.has(row)));
  const kept = new Set<number>();
  sets.forEach((rows, set) => {
    const random = randomStream(session.config.seed, "select", step, set);
    for (const at of selection.choose(rows.map(candidate), random)) kept.add(rows[at]!);
  });
  keepParts(batch, kept, admitted);
  const dropped = new Set(admitted.filter((row) => !kept.has(row)));
  return {
    ...valued,
    dropped,
    admitted: config.statistics === "kept" ? admitted.filter((row) => kept.has(row)) : admitted,
  };
}

/** Earlier rows of an episode go with its last. */
function keepParts(batch: Batch, kept: Set<number>, admitted: readonly number[]): void {
  const lasts = lastParts(batch);
  for (const row of admitted) {
    if (lasts[row] === row) continue;
    if (kept.has(lasts[row]!)) kept.add(row);
    else kept.delete(row);
  }
}
