import assert from "node:assert/strict";
import { test } from "node:test";
import { annealed } from "../../../server/core/blocks/rollout.ts";
import { loadConfig } from "../../../server/rules/load.ts";
import { CharacterTokenizer } from "../../../server/engine/tokenizers/characters.ts";
import { constraintsOf } from "../../../server/run/step/generate/decoding.ts";
import { FakeModels } from "../../support/fakePolicy.ts";

const tokenizer = new CharacterTokenizer();
const models = new FakeModels();
const rolloutOf = (written: string) =>
  loadConfig("decoding.gradus.yaml", {
    text: `tasks: [{ env: countdown }]\nreward: { terms: { correct: equation } }\nrollout: ${written}\n`,
  });

test("the temperature falls as annealed decoding says, from its value at the start", () => {
  const clock = { step: 10, stageStep: 10 };
  const decay = { schedule: "linear", from: 5, to: 25, over: 20, start: 0 } as const;
  const at = annealed(1.2, { to: 0.3, decay, start: 4 }, clock);
  assert.equal(at(0), 1.2);
  assert.equal(at(4), 1.2);
  assert.ok(Math.abs(at(10) - (2.2 - Math.exp(6 / 15))) < 1e-12);
  assert.equal(at(100), 0.3);
});

test("biases are named by id or by a text that is one token", () => {
  const { config, diagnostics } = rolloutOf(
    '{ logit_bias: { 7: -1, "a": 2.5 }, min_tokens: 2, lanes: 8, grammar: { choices: [ab] } }',
  );
  assert.deepEqual(diagnostics, []);
  const { logit_bias, min_tokens, lanes, grammar, stop } = constraintsOf(config!.top.rollout, {
    tokenizer,
    models,
  });
  assert.deepEqual(
    [...logit_bias!],
    [
      [7, -1],
      [tokenizer.encode("a")[0], 2.5],
    ],
  );
  assert.deepEqual({ min_tokens, lanes, stop }, { min_tokens: 2, lanes: 8, stop: undefined });
  assert.equal(grammar!.allowed![tokenizer.encode("a")[0]!], 1);
  assert.equal(grammar!.allowed![tokenizer.encode("b")[0]!], 0);
  for (const [key, message] of [
    ["ab", /the text is 2 tokens/],
    ["500", /vocabulary has 99 tokens/],
  ] as const)
    assert.throws(
      () => constraintsOf({ ...config!.top.rollout, logit_bias: { [key]: 1 } }, { tokenizer, models }),
      message,
    );
});

test("an expression that cannot be followed is reported where it is written", () => {
  const { diagnostics } = rolloutOf('{ grammar: { regex: "(a" } }');
  assert.equal(diagnostics.length, 1);
  assert.match(diagnostics[0]!.message, /not closed/);
});
