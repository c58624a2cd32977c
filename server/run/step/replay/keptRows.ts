/** Rollouts as replay keeps them: one row at a time, and together again. */
import { advantagesOfRow } from "../../../algorithm/advantages/advantageColumns.ts";
import type { Advantages } from "../../../algorithm/advantages/tokenAdvantages.ts";
import { joinBatches } from "../../../core/rows/joinBatches.ts";
import { selectRows } from "../../../core/rows/batch.ts";
import { withReplayedColumns } from "../../../core/rows/columns.ts";
import type { KeptRow } from "../../../methods/replay/keptRow.ts";
import type { Batch } from "../../../core/rollouts.ts";
import type { Selected } from "../context.ts";
import { selectColumn } from "../score/rewardColumns.ts";

/** One row of a step, with its rewards and what it trained with. Teacher contexts stay as text. */
export function keptRow(
  { batch, scored, dropped }: Pick<Selected, "batch" | "scored"> & Partial<Pick<Selected, "dropped">>,
  advantages: Advantages,
  row: number,
  step: number,
  group: string,
): KeptRow {
  const { pair: _, contexts: __, ...rest } = selectRows(batch, [row]);
  return {
    batch: withReplayedColumns(rest),
    step,
    group,
    terms: scored.rewards.terms.map((term) => selectColumn(term, [row])),
    reward: scored.combined.total[row]!,
    success: scored.success[row]!,
    advantages: advantagesOfRow(advantages, batch, row),
    left: dropped?.has(row) ?? false,
    draws: 0,
  };
}

/** Kept rows as a batch of replayed ones. A rollout that was drawn twice is in two groups. */
export function replayedBatch(rows: readonly KeptRow[], version: number): Batch {
  const seen = new Map<KeptRow, number>();
  const groups = rows.map((row) => {
    const times = seen.get(row) ?? 0;
    seen.set(row, times + 1);
    return times === 0 ? row.group : `${row.group}#${times}`;
  });
  const batch = joinBatches(
    rows.map((row) => row.batch),
    groups,
  );
  return {
    ...batch,
    version,
    records: batch.records.map((record, i) => ({
      ...record,
      source: "replay",
      group: `replay/${groups[i]!}`,
    })),
  };
}

/** Rows scored at once: bounds memory. */
const portion = 256;

/** Whole groups together, as many as make a portion. */
export function portions(groups: readonly (readonly KeptRow[])[]): KeptRow[][] {
  const parts: KeptRow[][] = [];
  for (const rows of groups) {
    const last = parts.at(-1);
    if (last === undefined || last.length + rows.length > portion) parts.push([...rows]);
    else last.push(...rows);
  }
  return parts;
}
