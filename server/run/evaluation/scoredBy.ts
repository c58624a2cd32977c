/** Answers of one model under another. */
import type { Policy } from "../../core/policy.ts";
import { origin, type Batch } from "../../core/rollouts.ts";
import { meanLogp } from "./meanLogp.ts";

/** Rows whose tokens are read back as text, to see whether both models have the same. */
const compared = 16;

/** @returns a mean log-prob an answer; undefined: the answers are not of this model's tokens, or longer than it reads */
export async function scoredBy(
  policy: Policy,
  batches: readonly Batch[],
): Promise<readonly number[] | undefined> {
  if (!batches.every((batch) => fits(policy, batch)) || !sameTokens(policy, batches)) return undefined;
  const found: number[] = [];
  for (const batch of batches) {
    const { logp } = await policy.score(batch, { model: "policy", channels: ["logp"] });
    for (let row = 0; row < batch.rows; row++) found.push(meanLogp(batch, logp, row));
  }
  return found;
}

const rowsOf = ({ offsets, context }: Batch, row: number): number =>
  offsets[row + 1]! - offsets[row]! + (context.offsets[row + 1]! - context.offsets[row]!);

const fits = (policy: Policy, batch: Batch): boolean =>
  Array.from({ length: batch.rows }, (_, row) => rowsOf(batch, row)).every(
    (long) => long <= policy.context,
  ) && batch.tokens.every((token) => token < policy.tokenizer.size);

function sameTokens({ tokenizer }: Policy, batches: readonly Batch[]): boolean {
  const [first] = batches;
  if (first === undefined) return true;
  const ends = new Set(tokenizer.eosAll ?? [tokenizer.eos]);
  return Array.from({ length: Math.min(compared, first.rows) }, (_, row) => row).every((row) => {
    const written: number[] = [];
    for (let at = first.offsets[row]!; at < first.offsets[row + 1]!; at++)
      if (first.origin[at] === origin.written && !ends.has(first.tokens[at]!))
        written.push(first.tokens[at]!);
    return first.records[row]!.response.includes(tokenizer.decode(written));
  });
}
