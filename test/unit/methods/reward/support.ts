/** What a term says of rows, as one thing each: a number, a list of numbers, an error's message, or `none`. */
import assert from "node:assert/strict";
import type { RewardContext, RewardTerm } from "../../../../server/core/reward.ts";
import type { Batch } from "../../../../server/core/rollouts.ts";
import type { TermValue } from "../../../../server/core/slots/reward.ts";
import type { RolloutRow } from "../../../../shared/rollouts/rollouts.ts";
import { batchOf } from "../../support.ts";

export const noModels: RewardContext = {
  clock: { step: 0, stageStep: 0 },
  models: {
    names: [],
    get: () => assert.fail("no term asks for a model"),
    perceptron: () => assert.fail("no term asks for a model"),
  },
  tokenizer: {
    size: 0,
    eos: 0,
    pad: 0,
    encode: () => assert.fail("no term encodes"),
    decode: () => assert.fail("no term decodes"),
  },
};

/** A rollout with a token for each character. */
export const rowOf = (response: string, more: Partial<RolloutRow> = {}): RolloutRow => ({
  step: 0,
  group: "g",
  index: 0,
  response,
  tokens: [...response].map(() => 1),
  ...more,
});

export function plain(value: TermValue): number | string | readonly number[] {
  if (value.kind === "value") return value.value;
  if (value.kind === "values") return value.values;
  return value.kind === "error" ? value.message : value.kind;
}

export const saidBy = async (
  term: RewardTerm,
  rows: readonly RolloutRow[],
  more: Partial<RewardContext> = {},
  batch: Batch = batchOf(rows),
): Promise<(number | string | readonly number[])[]> =>
  (await term.score(batch, { ...noModels, ...more })).map(plain);
