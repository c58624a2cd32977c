/** Batches without a run: random tokens, rows of one length. */
import type { Batch, TokenColumns } from "../server/core/rollouts.ts";
import type { Weigh } from "../server/core/policy.ts";

const evenOffsets = (rows: number, each: number): Int32Array =>
  Int32Array.from({ length: rows + 1 }, (_, row) => row * each);

/** `rows` rows, each with its equal part of `context` in front and of `tokens` to train. */
export const evenBatch = (
  rows: number,
  context: Int32Array,
  tokens: Int32Array,
  columns: TokenColumns = { logp_old: new Float64Array(tokens.length).fill(-4) },
): Batch => ({
  rows,
  offsets: evenOffsets(rows, tokens.length / rows),
  tokens,
  origin: new Uint8Array(tokens.length),
  mask: new Uint8Array(tokens.length).fill(1),
  columns,
  context: { offsets: evenOffsets(rows, context.length / rows), values: context },
  group: new Int32Array(rows),
  groups: 1,
  records: [],
});

/** The gradient of the mean log-likelihood of `count` tokens, and no loss: nothing but the engine is measured. */
export const likelier =
  (count: number): Weigh =>
  () => ({ loss: 0, gradients: { logp: new Float64Array(count).fill(-1 / count) } });
