/** The advantages of a step: of the rows that train, with what they train with, and of all. */
import type { StepAdvantages, Admitted, ModelScores } from "./context.ts";
import type { Algorithm } from "../../algorithm/algorithm.ts";
import { RowAdvantages } from "../../algorithm/advantages/overTokens.ts";
import { withReturns, type Advantages } from "../../algorithm/advantages/tokenAdvantages.ts";
import { areAll, selectRows } from "../../core/rows/batch.ts";
import type { Clock } from "../../core/basics.ts";
import type { Batch } from "../../core/rollouts.ts";
import { selectColumn } from "./score/rewardColumns.ts";
import { Touched } from "./update/touched.ts";

/** Their columns may be written to the place of the last step's: what outlives the step is copied before it ends. */
export function computeAdvantages(
  algorithm: Algorithm,
  clock: Clock,
  { batch, scored, admitted }: Pick<Admitted, "batch" | "scored" | "admitted">,
  modelScores: ModelScores,
): StepAdvantages {
  const whole = areAll(admitted, batch);
  const rows = whole ? batch : selectRows(batch, admitted);
  // A spread over the batch is that of the rows that train.
  const own = algorithm.rewards(
    scored.rewards.terms.map((term) => selectColumn(term, admitted)),
    rows,
    clock,
  );
  const everyone = whole
    ? undefined
    : algorithm.advantages(scored.combined, batch, modelScores.all, clock, true);
  const advantages = algorithm.advantages(own.combined, rows, modelScores.train, clock, whole);
  const weights = algorithm.tokenWeights(rows, advantages, modelScores.train, clock);
  algorithm.observe(scored.combined, batch);
  return {
    train: {
      batch: withReturns(rows, advantages),
      advantages,
      weights,
      old: modelScores.train,
      scored: own,
      touched: new Touched(rows),
    },
    all: everyone === undefined ? advantages : merged(everyone, advantages, batch, admitted),
  };
}

/** Writes the values of chosen rows into a column over all rows. */
function scattered<Column extends Float64Array | Uint8Array>(
  values: Column,
  into: Column,
  batch: Batch,
  rows: readonly number[],
): Column {
  let at = 0;
  for (const row of rows) {
    const size = batch.offsets[row + 1]! - batch.offsets[row]!;
    into.set(values.subarray(at, at + size), batch.offsets[row]);
    at += size;
  }
  return into;
}

/** Rows that train have the advantages they train with; the others those they would have had. */
function merged(all: Advantages, own: Advantages, batch: Batch, rows: readonly number[]): Advantages {
  const perRow = all.rows.slice();
  rows.forEach((row, i) => (perRow[row] = own.rows[i]!));
  const returns = all.returns && own.returns && scattered(own.returns, all.returns.slice(), batch, rows);
  if (all.perRow !== undefined && own.perRow !== undefined) return new RowAdvantages(perRow, batch, returns);
  return {
    tokens: scattered(own.tokens, all.tokens.slice(), batch, rows),
    exists: scattered(own.exists, all.exists.slice(), batch, rows),
    rows: perRow,
    ...(returns && { returns }),
  };
}
