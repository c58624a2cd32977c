/** Whether two tokenizers mean the same by the same ids, and in what words the difference is reported. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { UserError } from "../../../shared/lib/errors.ts";
import { CharacterTokenizer } from "../../../server/engine/tokenizers/characters.ts";
import { checkSameTokens, tokenDifference } from "../../../server/engine/tokenizers/index.ts";
import type { Tokenizer } from "../../../server/core/policy.ts";

const characters = new CharacterTokenizer();
/** The same without a file: it can only be asked. */
const asked = (change: Partial<Tokenizer> = {}): Tokenizer => ({
  size: characters.size,
  eos: characters.eos,
  pad: characters.pad,
  encode: (text) => characters.encode(text),
  decode: (tokens) => characters.decode(tokens),
  ...change,
});

test("equal files, and equal answers without a file, are the same tokens", () => {
  assert.equal(tokenDifference(characters, characters), undefined);
  assert.equal(tokenDifference(characters, new CharacterTokenizer()), undefined);
  assert.equal(tokenDifference(characters, asked()), undefined);
  assert.equal(tokenDifference(asked(), characters), undefined);
});

test("each way to differ is reported by itself", () => {
  const last = characters.size - 1;
  const cases: readonly (readonly [Partial<Tokenizer>, RegExp])[] = [
    [{ size: characters.size + 3 }, new RegExp(`${characters.size} and ${characters.size + 3} tokens`)],
    [{ eos: characters.eos + 1 }, /end with the tokens/],
    [{ encode: (text) => characters.encode(text).map((id) => id + 1) }, /split the same text/],
    [
      { decode: (tokens) => (tokens[0] === last ? "other" : characters.decode(tokens)) },
      new RegExp(`token ${last} is .* and "other" to the other`),
    ],
  ];
  for (const [change, words] of cases) assert.match(tokenDifference(characters, asked(change)) ?? "", words);
});

test("the error names both, why, what cannot be done and what to do", () => {
  const other = { name: "the model judge", tokenizer: asked({ eos: 7 }) };
  const wish = { code: "model-tokenizer", so: "nothing can be compared", action: "Take another." };
  assert.throws(
    () => checkSameTokens({ name: "The policy", tokenizer: characters }, other, wish),
    (error) =>
      error instanceof UserError &&
      /^The policy and the model judge have different tokenizers \(their texts end .*\), so nothing can be compared\.$/.test(
        error.message,
      ) &&
      error.detail.action === "Take another.",
  );
});
