import assert from "node:assert/strict";
import { test } from "node:test";
import { CharacterTokenizer } from "../../../server/engine/tokenizers/characters.ts";
import { asked } from "../../../server/run/step/generate/prompts.ts";
import { solved } from "../../../server/run/stages/supervised.ts";
import type { Task } from "../../../server/core/task.ts";
import type { Tokenizer } from "../../../server/core/policy.ts";

const characters = new CharacterTokenizer();
const task: Task = {
  id: "1",
  source: "sums",
  env: "arithmetic",
  prompt: "What is 1 + 2?",
  begin: "1 + 2 =",
  answer: "3",
  data: {},
  solution: " 3",
};
const talker: Tokenizer = {
  size: characters.size,
  eos: characters.eos,
  pad: characters.pad,
  prefix: [1],
  encode: (text) => characters.encode(text),
  decode: (tokens) => characters.decode(tokens),
  chat: (messages) => `${messages.map(({ role, content }) => `<${role}>${content}`).join("")}<assistant>`,
};
const text = (tokens: Int32Array): string => characters.decode(tokens);

test("a model that chats is asked by its template, another with the plain prompt; the beginning is given", () => {
  const chatted = asked(talker, task, { chat: "auto", system: "Be brief." });
  assert.equal(text(chatted.tokens), "<system>Be brief.<user>What is 1 + 2?<assistant>");
  assert.equal(text(chatted.prefix ?? new Int32Array()), "1 + 2 =");
  const plain = asked(talker, task, { chat: false });
  assert.deepEqual([plain.tokens[0], text(plain.tokens.subarray(1))], [1, "What is 1 + 2?"]);
  assert.equal(text(asked(characters, task, { chat: "auto" }).tokens), "What is 1 + 2?");
});

test("a chat that was asked for of a model without a template is an error that names the key", () => {
  assert.throws(() => asked(characters, task, { chat: true }), /rollout\.chat: true needs a chat template/);
  assert.throws(() => asked(characters, task, { chat: "auto", system: "x" }), /rollout\.system needs/);
});

test("a written solution follows the same question, its beginning not trained", () => {
  const batch = solved([task], talker, { chat: "auto" });
  assert.equal(text(batch.context.values), "<user>What is 1 + 2?<assistant>1 + 2 =");
  assert.deepEqual([...batch.tokens], [...characters.encode(" 3"), characters.eos]);
});
