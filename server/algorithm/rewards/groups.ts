/** Groups as the curriculum and the charts see them. */
import type { Batch, Group } from "../../core/rollouts.ts";
import { lengthOfRow, rowsOfGroups } from "../../core/rows/batch.ts";
import { meanAdvantage } from "../advantages/advantageColumns.ts";
import type { Advantages } from "../advantages/tokenAdvantages.ts";
import { outcome, type Scores } from "./rewards.ts";

/** One entry per group of the batch, in the order of their numbers. Without advantages theirs are empty. */
export function groupsOf(batch: Batch, { combined, success }: Scores, advantages?: Advantages): Group[] {
  return rowsOfGroups(batch).map((rows) => {
    const scored = rows.filter((row) => combined.errored[row] === 0 && !Number.isNaN(combined.total[row]!));
    const { task, arm } = batch.records[rows[0]!]!;
    const means = advantages === undefined ? [] : scored.map((row) => meanAdvantage(advantages, batch, row));
    return {
      task,
      arm,
      rewards: Float64Array.from(scored, (row) => combined.total[row]!),
      advantages: Float64Array.from(means.filter((value) => !Number.isNaN(value))),
      successes: scored.filter((row) => success[row] === outcome.right).length,
      answers: scored.map((row) => ({
        response: batch.records[row]!.response,
        right: success[row] === outcome.right,
      })),
      lengths: Float64Array.from(scored, (row) => lengthOfRow(batch, row)),
    };
  });
}
