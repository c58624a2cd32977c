/** Fresh continuations among recorded rollouts: the value of where they left their sibling. */
import type { Algorithm } from "../../algorithm/algorithm.ts";
import { columnOf } from "../../algorithm/rewards/rewards.ts";
import { batchOfRows, groupKey, recordedValue, type RecordedRow } from "../recorded.ts";
import type { TermValue } from "../../core/slots/reward.ts";
import type { Clock } from "../../core/basics.ts";
import type { Batch } from "../../core/rollouts.ts";
import { fromWire, type RolloutRow } from "../../../shared/rollouts/rollouts.ts";
import type { StageBody } from "../../core/config/resolved.ts";

const whole = ({ reward }: RolloutRow): TermValue => {
  const value = fromWire(reward ?? null);
  return Number.isFinite(value) ? { kind: "value", value } : { kind: "none" };
};

/**
 * The batch with `values` at the tokens that rollouts of use `estimate` left their `parent` at: the mean reward of those
 * that did. Values that the rollouts recorded themselves stay.
 */
export function withBranchValues(
  batch: Batch,
  rows: readonly RolloutRow[],
  estimates: readonly RecordedRow[],
  { algorithm, body, clock }: { algorithm: Algorithm; body: StageBody; clock: Clock },
): Batch {
  const branches = estimates.map(({ row }) => row).filter(({ parent }) => parent !== undefined);
  if (branches.length === 0 || batch.columns.values !== undefined) return batch;
  const own = batchOfRows(branches, body.tasks);
  const columns = [
    ...body.reward.terms.map(({ name }) =>
      columnOf(
        name,
        branches.map((row) => recordedValue(row, name)),
        own,
      ),
    ),
    columnOf(
      "total",
      branches.map((row): TermValue => (row.rewards === undefined ? whole(row) : { kind: "none" })),
      own,
    ),
  ];
  const { total, errored } = algorithm.rewards(columns, own, clock).combined;
  const place = new Map(rows.map((row, i) => [`${groupKey(row)} ${row.index}`, i]));
  const values = new Float64Array(batch.tokens.length).fill(Number.NaN);
  const counts = new Int32Array(batch.tokens.length);
  branches.forEach((branch, i) => {
    const row = place.get(`${groupKey(branch)} ${branch.parent!.index}`);
    if (row === undefined || errored[i] === 1 || Number.isNaN(total[i]!)) return;
    const at = batch.offsets[row]! + branch.parent!.token;
    if (at >= batch.offsets[row + 1]!) return;
    counts[at]! += 1;
    const before = counts[at] === 1 ? 0 : values[at]!;
    values[at] = before + (total[i]! - before) / counts[at]!;
  });
  return { ...batch, columns: { ...batch.columns, values } };
}
