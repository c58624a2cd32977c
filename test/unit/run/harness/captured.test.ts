/** Captured calls become rows of tokens. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { tokensOf } from "../../../../server/run/step/generate/assemble.ts";
import { capturedSchema, conversationsOf } from "../../../../server/run/harness/captured.ts";
import { CharacterTokenizer } from "../../../../server/engine/tokenizers/characters.ts";

const tokenizer = new CharacterTokenizer();
const ids = (text: string): number[] => [...tokenizer.encode(text)];

/** A call as the server tells it. */
const call = (prompt: readonly number[], response: readonly number[]): unknown => ({
  prompt_tokens: prompt,
  tokens: response,
  logp_old: response.map(() => -0.5),
  logp_sampled: response.map(() => null),
  entropy: response.map(() => 1),
  versions: response.map(() => 3),
  finish: "stop",
});
const conversations = (...calls: readonly unknown[]) =>
  conversationsOf(capturedSchema.parse({ captured: calls }).captured, tokenizer);

test("calls whose prompts go on from one another are one row, what was said between them observed", () => {
  const first = [...ids("2+2="), ...ids("4")];
  const second = [...first, tokenizer.eos, ...ids(" so? ")];
  const [row, ...rest] = conversations(
    call(ids("2+2="), [...ids("4"), tokenizer.eos]),
    call(second, [...ids("4!"), tokenizer.eos]),
  );
  assert.deepEqual(rest, []);
  assert.deepEqual([...row!.context], ids("2+2="));
  assert.deepEqual(
    row!.parts.map((part) => [part.kind, [...tokensOf(part)]]),
    [
      ["own", [...ids("4"), tokenizer.eos]],
      ["observed", ids(" so? ")],
    ],
  );
  assert.deepEqual([...row!.sample.tokens], [...ids("4!"), tokenizer.eos]);
  assert.ok(Number.isNaN(row!.sample.logp_sampled[0]));
  assert.deepEqual(
    row!.turns.map(({ role, text, start, end }) => [role, text, start, end]),
    [
      ["assistant", "4", 0, 2],
      ["user", "so?", 2, 7],
      ["assistant", "4!", 7, 10],
    ],
  );
});

test("a call that writes the conversation otherwise begins another row; each call goes on from the longest that fits", () => {
  const found = conversations(
    call(ids("a"), ids("b")),
    call(ids("x"), ids("y")),
    call(ids("abc"), ids("d")),
    call(ids("aBc"), ids("e")),
    call(ids("abcdf"), ids("g")),
  );
  assert.deepEqual(
    found.map(({ context, turns }) => [tokenizer.decode(context), turns.map(({ text }) => text).join("|")]),
    [
      ["a", "b|c|d|f|g"],
      ["x", "y"],
      ["aBc", "e"],
    ],
  );
});
