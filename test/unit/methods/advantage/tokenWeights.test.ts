import assert from "node:assert/strict";
import { test } from "node:test";
import { tokensOf } from "../../../../server/algorithm/advantages/tokenColumn.ts";
import type { RolloutRow } from "../../../../shared/rollouts/rollouts.ts";
import { Chain, paid, start } from "./support.ts";

/** Per row, the weights that a list of token weights gives. */
function weighted(list: string, rows: readonly RolloutRow[], more = ""): number[][] {
  const chain = new Chain(`{ baseline: none, scale: none, token_weights: ${list}${more} }`);
  const batch = chain.batch(rows);
  const { combined } = chain.scored(rows, batch);
  const advantages = chain.algorithm.advantages(combined, batch, {}, start);
  const weights = tokensOf(chain.algorithm.tokenWeights(batch, advantages, {}, start));
  return rows.map((_, i) => [...weights.subarray(batch.offsets[i]!, batch.offsets[i + 1]!)]);
}
const close = (actual: readonly number[][], expected: readonly (readonly number[])[]): void =>
  expected.forEach((values, i) =>
    values.forEach((value, t) =>
      assert.ok(
        Math.abs(actual[i]![t]! - value) < 1e-12,
        `${actual[i]!.join(", ")} is not ${values.join(", ")}`,
      ),
    ),
  );

test("without token weights a token counts 1 where it trains and has an advantage", () => {
  close(weighted("[]", [paid("g", 0, 1, 2, { mask: [1, 0] }), paid("g", 1, null, 1)]), [[1, 0], [0]]);
});

test("entropy: proportional with mean 1 a response or over the step, or exponential", () => {
  const rows = [
    paid("g", 0, 1, 3, { entropy: [1, 3, 5], mask: [1, 1, 0] }),
    paid("g", 1, 1, 1, { entropy: [4] }),
  ];
  close(weighted("[entropy]", rows), [[0.5, 1.5, 0], [1]]);
  close(weighted("[{ use: entropy, over: batch }]", rows), [[3 / 8, 9 / 8, 0], [12 / 8]]);
  const [a, b] = [Math.exp(-1), Math.exp(-3)];
  close(weighted("[{ use: entropy, beta: -1 }]", rows), [[(2 * a) / (a + b), (2 * b) / (a + b), 0], [1]]);
});

test("RL-PLUS's (1 − π)^γ acts on what others wrote; certainty keeps the token in the normalisers' counts", () => {
  const logp_old = [Math.log(0.75), 0, null];
  const rows = [paid("g", 0, 1, 3, { logp_old, source: "dataset" }), paid("g", 1, 1, 3, { logp_old })];
  close(weighted("[power]", rows), [
    [0.5, 0, 1],
    [1, 1, 1],
  ]);
  assert.ok(weighted("[power]", rows)[0]![1]! > 0);
  close(weighted("[{ use: power, on: all, gamma: 1 }]", rows).slice(1), [[0.25, 0, 1]]);
});

test("HICRA: 1 + α on a phrase of a good rollout, 1 − α of a bad one", () => {
  const text = { response: "so Wait, no" };
  const rows = [
    paid("g", 0, 1, 11, text),
    paid("g", 1, -1, 11, text),
    paid("g", 2, 1, 2, { response: "no" }),
  ];
  const phrase = (inside: number): number[] =>
    Array.from({ length: 11 }, (_, t) => (t >= 3 && t < 7 ? inside : 1));
  close(weighted("[{ use: phrases, list: [wait] }]", rows), [phrase(1.2), phrase(0.8), [1, 1]]);
  close(weighted("[{ use: phrases, list: [wait], ignore_case: false }]", rows), [phrase(1)]);
});

test("spans by name, and several weights multiply", () => {
  const rows = [paid("g", 0, 1, 3, { spans: { error: [[1, 2]] }, entropy: [1, 2, 3] })];
  close(weighted("[{ use: spans, name: error, factor: 3 }]", rows), [[1, 3, 1]]);
  close(weighted("[{ use: spans, name: error, factor: 3, outside: true }, entropy]", rows), [[1.5, 1, 4.5]]);
});
