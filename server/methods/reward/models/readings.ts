/** Texts conditioned on others, whose likelihoods are scored. */
import { raggedOf } from "../../../core/rows/batch.ts";
import { origin, type Batch } from "../../../core/rollouts.ts";
import type { Models } from "../../../core/policy.ts";
import { scoreBy } from "./lesson.ts";

/** A text conditioned on a context, whose likelihood is scored. */
export interface TextReading {
  readonly row: number;
  readonly context: readonly number[];
  readonly text: Int32Array;
}

/** The readings as a batch: every token of the texts counts. */
function readingBatch(readings: readonly TextReading[], { records }: Batch): Batch {
  const { offsets, values } = raggedOf(readings.map(({ text }) => text));
  return {
    rows: readings.length,
    offsets,
    tokens: values,
    columns: {},
    origin: new Uint8Array(values.length).fill(origin.written),
    mask: new Uint8Array(values.length).fill(1),
    context: raggedOf(readings.map(({ context }) => context)),
    group: Int32Array.from(readings.keys()),
    groups: readings.length,
    records: readings.map(({ row }) => records[row]!),
  };
}

/** log p(text_t | context, text_<t) of each token of each reading. */
export async function tokenLikelihoods(
  readings: readonly TextReading[],
  of: Batch,
  models: Models,
  model: string,
): Promise<Float64Array[]> {
  if (readings.length === 0) return [];
  const batch = readingBatch(readings, of);
  const { logp } = await scoreBy(models, model, batch, ["logp"]);
  return readings.map((_, row) => logp!.slice(batch.offsets[row]!, batch.offsets[row + 1]!));
}

/** Tokens in front of a row's response. */
export const askedOf = ({ context: { offsets, values } }: Batch, row: number): Int32Array =>
  values.subarray(offsets[row], offsets[row + 1]);
