/** Which tokens train, and how much each counts. */
import type { Clock } from "../../core/basics.ts";
import type { Batch } from "../../core/rollouts.ts";
import type { Stats } from "../../core/policy.ts";
import type { TokenWeight } from "../../core/loss.ts";
import { hasByte } from "../../lib/slices.ts";
import type { Advantages } from "../advantages/tokenAdvantages.ts";
import { PerRow } from "../perRow.ts";
import type { TokenColumn } from "../advantages/tokenColumn.ts";

/**
 * A weight of exactly 0 would take a token out of the normalisers' counts, as the mask does. Token weighting does not:
 * its zeros are this small instead.
 */
const nothing = 1e-30;

type Given = Pick<Advantages, "tokens" | "exists" | "rows" | "perRow" | "everywhere">;

/** Mask × the product of the methods' factors; 0 where no advantage exists. `batch` is masked. */
export function tokenWeights(
  methods: readonly TokenWeight[],
  batch: Batch,
  advantages: Given,
  stats: Stats,
  clock: Clock,
): TokenColumn {
  const byRow = methods.length === 0 ? rowWeights(batch, advantages) : undefined;
  if (byRow !== undefined) return new PerRow(byRow, batch.offsets);
  const weights = new Float64Array(batch.mask.length);
  if (advantages.perRow === undefined) ofTokens(batch, advantages, weights);
  else ofRows(batch, advantages, weights);
  for (const method of methods) {
    const factors = method(batch, stats, advantages.tokens, clock);
    for (let i = 0; i < weights.length; i++) {
      if (weights[i] === 0) continue;
      const weight = weights[i]! * factors[i]!;
      weights[i] = weight === 0 ? nothing : weight;
    }
  }
  return weights;
}

/** Where every token of a row trains or none, the row's weight is all there is to know. */
function rowWeights(batch: Batch, { everywhere, perRow }: Given): Float64Array | undefined {
  if (everywhere !== true && perRow === undefined) return undefined;
  const weights = trainedRows(batch);
  if (perRow !== undefined)
    weights?.forEach((_, row) => {
      if (Number.isNaN(perRow.rows[row]!)) weights[row] = 0;
    });
  return weights;
}

/** Per row: 1 where all of its tokens train, 0 where none does; undefined where some of a row's do. */
function trainedRows({ mask, rows, offsets }: Batch): Float64Array | undefined {
  const trained = new Float64Array(rows).fill(1);
  if (!hasByte(mask, 0)) return trained;
  for (let row = 0; row < rows; row++) {
    const own = mask.subarray(offsets[row], offsets[row + 1]);
    if (!own.includes(0)) continue;
    if (own.includes(1)) return undefined;
    trained[row] = 0;
  }
  return trained;
}

function ofTokens({ mask }: Batch, { exists }: Given, weights: Float64Array): void {
  for (let i = 0; i < weights.length; i++) weights[i] = mask[i] === 1 && exists[i] === 1 ? 1 : 0;
}

/** Where a row has an advantage, all of its tokens have one. */
function ofRows({ mask, offsets }: Batch, { rows }: Given, weights: Float64Array): void {
  rows.forEach((advantage, row) => {
    const [from, to] = [offsets[row]!, offsets[row + 1]!];
    if (Number.isNaN(advantage)) weights.fill(0, from, to);
    else for (let i = from; i < to; i++) weights[i] = mask[i] === 1 ? 1 : 0;
  });
}
