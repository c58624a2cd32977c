/** Where branches leave a rollout, as the released code of CURE chooses it. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { branchings } from "../../../../server/methods/rollout/branching/index.ts";
import { randomStream } from "../../../../server/lib/random.ts";
import type { Branching } from "../../../../server/core/slots/branching.ts";

/** Words by their numbers; 9 is a special token, which has no text. */
const words = ["So", " the", " x", " is", " y", ",", " or", "\n", " not", ""];
const tokenizer = { decode: (tokens: ArrayLike<number>) => Array.from(tokens, (t) => words[t]).join("") };

const made = (use: string, params: Readonly<Record<string, unknown>> = {}): Branching => {
  const declaration = branchings.find(({ name }) => name === use)!;
  return declaration.create(declaration.params.parse(params), {
    folder: "",
    random: randomStream(1),
    max_tokens: 16,
    group: 16,
  });
};

/** So the x is y, or↵ not⟨end⟩ */
const tokens = Int32Array.of(0, 1, 2, 3, 4, 5, 6, 7, 8, 9);
const entropy = Float64Array.of(9, 0.5, 8, 2, 7, 6, 3, 5, 1, 4);

const places = (method: Branching, rollout = { tokens, entropy }): (number | undefined)[] => [
  ...new Set(
    Array.from({ length: 400 }, (_, i) => method.leave(rollout, randomStream(1, "leave", i), tokenizer)),
  ),
];
const sorted = (found: readonly (number | undefined)[]): number[] =>
  found.filter((at) => at !== undefined).sort((a, b) => a - b);

test("one of the k tokens of highest entropy, of those with two characters and more after the first", () => {
  // Of highest entropy are the first token, single characters and the end: none of them counts among the k.
  assert.deepEqual(sorted(places(made("top_entropy", { k: 2 }))), [3, 6]);
  assert.deepEqual(sorted(places(made("top_entropy"))), [1, 3, 6, 8]);
  assert.deepEqual(sorted(places(made("top_entropy", { k: 3, min_characters: 1 }))), [2, 4, 5]);
});

test("each of them is as likely", () => {
  const method = made("top_entropy", { k: 4 });
  const counts = new Map<number, number>();
  for (let i = 0; i < 4000; i++) {
    const at = method.leave({ tokens, entropy }, randomStream(2, "leave", i), tokenizer)!;
    counts.set(at, (counts.get(at) ?? 0) + 1);
  }
  for (const count of counts.values()) assert.ok(Math.abs(count - 1000) < 150, String(count));
});

test("uniform takes any token with a text, whatever its entropy", () => {
  assert.deepEqual(sorted(places(made("uniform"))), [1, 3, 6, 8]);
  assert.deepEqual(sorted(places(made("uniform", { min_characters: 1 }))), [1, 2, 3, 4, 5, 6, 8]);
});

test("there is nowhere to leave a response of one token, of short tokens, or whose entropy was not measured", () => {
  const short = { tokens: Int32Array.of(1, 9), entropy: Float64Array.of(1, 1) };
  const letters = { tokens: Int32Array.of(2, 4, 5), entropy: Float64Array.of(1, 1, 1) };
  const unknown = { tokens, entropy: entropy.map(() => Number.NaN) };
  for (const rollout of [short, letters, unknown])
    assert.deepEqual(places(made("top_entropy"), rollout), [undefined]);
});

test("of a model that reads character by character, single characters count", () => {
  const letters = { tokens: Int32Array.of(2, 4, 5, 9), entropy: Float64Array.of(1, 1, 1, 1) };
  const leave = made("uniform").leave(letters, randomStream(1), { ...tokenizer, byCharacter: true });
  assert.ok(leave === 1 || leave === 2);
});

test("three branches each, which is a group of sixteen from four", () => {
  assert.equal(made("top_entropy").children, 3);
  assert.equal(made("none").children, 0);
});
