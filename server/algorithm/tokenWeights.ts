/** Which tokens train, and how much each counts. */
import type { Batch, Clock, Stats, TokenWeight } from "../seams.ts";
import { hasByte } from "../slices.ts";
import type { Advantages } from "./tokenAdvantages.ts";
import { PerRow, type TokenColumn } from "./perRow.ts";

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
  into?: Float64Array,
): TokenColumn {
  const byRow = methods.length === 0 ? rowWeights(batch, advantages) : undefined;
  if (byRow !== undefined) return new PerRow(byRow, batch.offsets);
  const weights = into ?? new Float64Array(batch.mask.length);
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
function rowWeights({ mask, rows }: Batch, advantages: Given): Float64Array | undefined {
  if (hasByte(mask, 0)) return undefined;
  if (advantages.everywhere === true) return new Float64Array(rows).fill(1);
  return advantages.perRow && advantages.rows.map((advantage) => (Number.isNaN(advantage) ? 0 : 1));
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
