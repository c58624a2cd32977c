/** Rows cut into micro-batches as the model's memory allows. */
import { UserError } from "../../../shared/lib/errors.ts";
import { microBatches, type MicroBatch, type TokenRow } from "./layout.ts";
import { leanMicroTokens } from "../memory.ts";
import type { PolicySetup } from "../policySetup.ts";
import { usableContext } from "../transformer/positions.ts";

/** The micro-batches of all rows, or of those to keep. */
export type MicroBatches = (keep?: (row: TokenRow) => boolean) => MicroBatch[];

/** Of rows as long as this. Those of a large model are cut so fine that no layer has to be computed twice. */
function microTokens({ shape, lean, micro_tokens, run_bytes }: PolicySetup, length: number): number {
  return lean ? leanMicroTokens(shape, length, { micro_tokens, run_bytes }) : micro_tokens;
}

/** @throws UserError for a row that is longer than the model's context */
export function cutRows(setup: PolicySetup, rows: readonly TokenRow[]): MicroBatches {
  const { runtime, shape, tokenizer } = setup;
  const context = usableContext(shape);
  const tooLong = rows.find((row) => row.tokens.length > context);
  if (tooLong !== undefined) {
    throw new UserError(
      `TokenRow ${tooLong.row} has ${tooLong.tokens.length} tokens with its context, but the model's context is ${context}.`,
      {
        code: "row-too-long",
        action:
          "Shorten prompts or rollout.max_tokens, or give the model a longer context (`model.context`).",
      },
    );
  }
  const tokens = microTokens(
    setup,
    rows.reduce((most, row) => Math.max(most, row.tokens.length), 1),
  );
  return (keep) =>
    microBatches(keep === undefined ? rows : rows.filter(keep), tokens, runtime.streams, tokenizer.pad);
}
