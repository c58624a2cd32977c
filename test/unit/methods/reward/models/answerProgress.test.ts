/** TRACE's turn rewards, from likelihoods of the very texts that are read. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { answerProgress } from "../../../../../server/methods/reward/models/answerProgress.ts";
import type { RolloutRecord } from "../../../../../server/core/rollouts.ts";
import { batchOf, task } from "../../../../support/batch.ts";
import { FakeModels, fakeTokenizer } from "../../../../support/fakePolicy.ts";
import { made, near } from "../../../support.ts";
import { plain } from "../support.ts";

const encode = (text: string): number[] => [...fakeTokenizer.encode(text)];
const clock = { step: 0, stageStep: 0 };
const answer = "end";

/** Turns of a conversation written as their texts, the policy first. */
type Turns = NonNullable<RolloutRecord["turns"]>;
const turnsOf = (...lengths: readonly number[]): Turns => {
  let start = 0;
  return lengths.map((length, k) => {
    const turn: Turns[number] = { role: k % 2 === 0 ? "assistant" : "user", start, end: start + length };
    start += length;
    return turn;
  });
};

const conversation = {
  context: encode("ask"),
  tokens: encode("abCDefGHi"),
  record: { task: task("a", { answer }), turns: turnsOf(2, 2, 2, 2, 1) },
};

async function said(rows: Parameters<typeof batchOf>[0], params: Record<string, unknown> = {}) {
  const models = new FakeModels({ seed: 4 });
  await models.get("policy").snapshot("reference");
  const term = made(answerProgress, params);
  const values = await term.score(batchOf(rows), { models, tokenizer: fakeTokenizer, clock });
  return { values: values.map(plain), models };
}

/** −mean log p(answer | before) + ε */
async function gap(models: FakeModels, before: string, epsilon: number): Promise<number> {
  const batch = batchOf([{ context: encode(before), tokens: encode(answer) }]);
  const { logp } = await models.get("policy").score(batch, { model: "reference", channels: ["logp"] });
  return -(logp![0]! + logp![1]! + logp![2]!) / 3 + epsilon;
}

test("a turn earns the log of the gap before it over the gap after what it led to; the last turn earns nothing", async () => {
  const { values, models } = await said([conversation]);
  const gaps = await Promise.all(["ask", "askabCD", "askabCDefGH"].map((text) => gap(models, text, 0.1)));
  const own = values[0] as readonly number[];
  assert.equal(own.length, 5);
  assert.ok(near(own[0], Math.log(gaps[0]! / gaps[1]!)));
  assert.ok(near(own[2], Math.log(gaps[1]! / gaps[2]!)));
  assert.ok(near(own[0]! + own[2]!, Math.log(gaps[0]! / gaps[2]!)));
  assert.ok([1, 3, 4].every((k) => Number.isNaN(own[k])));
  assert.notEqual(own[0], 0);
});

test("what is between conversation and answer is read: this reader remembers one token, so nothing is left to earn", async () => {
  const { values } = await said([conversation], { between: ">" });
  const own = values[0] as readonly number[];
  assert.ok(near(own[0], 0) && near(own[2], 0));
});

test("ε is the gap that is left at the end", async () => {
  const { values, models } = await said([conversation], { epsilon: 3 });
  const [before, after] = await Promise.all(["ask", "askabCD"].map((text) => gap(models, text, 3)));
  assert.ok(near((values[0] as readonly number[])[0], Math.log(before! / after!)));
});

test("one turn alone has no progress, and a task without an answer is an error", async () => {
  const { values } = await said([
    { ...conversation, record: { ...conversation.record, turns: turnsOf(9) } },
    { ...conversation, record: { task: task("b"), turns: turnsOf(2, 2, 5) } },
    conversation,
  ]);
  assert.equal(values[0], "none");
  assert.match(String(values[1]), /task b has none: set `answer`/);
  assert.ok(Array.isArray(values[2]));
});
