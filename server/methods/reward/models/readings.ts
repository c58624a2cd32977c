/** Texts conditioned on others, whose likelihoods are scored. */
import { batchOfTexts } from "../../../core/rows/textRows.ts";
import type { Batch } from "../../../core/rollouts.ts";
import type { Models } from "../../../core/policy.ts";
import { scoreBy } from "./lesson.ts";

/** A text conditioned on a context, whose likelihood is scored. */
export interface TextReading {
  readonly row: number;
  readonly context: readonly number[];
  readonly text: Int32Array;
}

/** log p(text_t | context, text_<t) of each token of each reading. */
export async function tokenLikelihoods(
  readings: readonly TextReading[],
  of: Batch,
  models: Models,
  model: string,
): Promise<Float64Array[]> {
  if (readings.length === 0) return [];
  const batch = batchOfTexts(
    readings.map(({ row, context, text }) => ({ context, tokens: text, record: of.records[row]! })),
  );
  const { logp } = await scoreBy(models, model, batch, ["logp"]);
  return readings.map((_, row) => logp!.slice(batch.offsets[row]!, batch.offsets[row + 1]!));
}

/** Tokens in front of a row's response. */
export const askedOf = ({ context: { offsets, values } }: Batch, row: number): Int32Array =>
  values.subarray(offsets[row], offsets[row + 1]);

/** The prompt and the response of a row, or what of it comes before the token at `end`; no more than `room` tokens. */
export const textUpTo = (
  batch: Batch,
  row: number,
  room: number,
  end: number = batch.offsets[row + 1]!,
): Int32Array =>
  Int32Array.from([...askedOf(batch, row), ...batch.tokens.subarray(batch.offsets[row], end)]).subarray(
    0,
    room,
  );
