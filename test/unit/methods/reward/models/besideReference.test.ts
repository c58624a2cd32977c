/** What a reward model with `given` reads: the reference, then the response, each after the prompt. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { besideReference } from "../../../../../server/methods/reward/models/besideReference.ts";
import { rewardModel } from "../../../../../server/methods/reward/models/rewardModel.ts";
import { BESIDE_REFERENCE } from "../../../../../server/core/rows/reading.ts";
import type { RewardColumn } from "../../../../../server/core/reward.ts";
import type { Batch } from "../../../../../server/core/rollouts.ts";
import { batchOf, task } from "../../../../support/batch.ts";
import { FakeModels, fakeTokenizer } from "../../../../support/fakePolicy.ts";
import { made } from "../../../support.ts";
import { plain } from "../support.ts";

const encode = (text: string): number[] => [...fakeTokenizer.encode(text)];
/** As the tokenizer has it: some characters are one to it. */
const seenAs = (text: string): string => fakeTokenizer.decode(fakeTokenizer.encode(text));
const rowFor = (
  name: string,
  more: Parameters<typeof task>[1],
  response: string,
): Parameters<typeof batchOf>[0][number] => ({
  context: encode("elsewhere"),
  tokens: encode(response),
  record: { task: task(name, { prompt: "ask", ...more }), response },
});
const batch = batchOf([
  rowFor("a", { answer: "42" }, "41"),
  rowFor("b", { answer: "42", solution: "it is 42" }, "42"),
  rowFor("c", {}, "43"),
]);
const contextOf = ({ context: { offsets, values } }: Batch, row: number): string =>
  fakeTokenizer.decode(values.subarray(offsets[row], offsets[row + 1]));

test("the written solution or the answer stands before the response, in POLAR's order", () => {
  const policy = new FakeModels().get("policy");
  const { batch: read, problems } = besideReference(batch, policy, BESIDE_REFERENCE);
  assert.equal(contextOf(read, 0), seenAs("ask\n42<|reward|>ask\n"));
  assert.equal(contextOf(read, 1), seenAs("ask\nit is 42<|reward|>ask\n"));
  assert.equal(contextOf(read, 2), "elsewhere");
  assert.deepEqual([read.tokens, read.offsets, read.mask], [batch.tokens, batch.offsets, batch.mask]);
  assert.deepEqual([...problems.keys()], [2]);
  assert.match(problems.get(2)!, /task c has no reference: set `answer` or `solution`/);
});

test("what the model's context does not hold is an error of that rollout", () => {
  const policy = Object.assign(Object.create(new FakeModels().get("policy")), { context: 22 });
  const { problems } = besideReference(batch, policy, BESIDE_REFERENCE);
  assert.match(problems.get(1)!, /reference and response are 28 tokens, more than the model's context of 22/);
});

test("the term scores and teaches what it reads, and nothing without a reference", async () => {
  const models = new FakeModels({ models: ["rm"], heads: ["reward"], lr: 1 });
  const seen: string[] = [];
  const rm = models.get("rm");
  const watched = Object.assign(Object.create(rm) as typeof rm, {
    score: (own: Batch, ask: Parameters<typeof rm.score>[1]) => {
      seen.push(contextOf(own, 0));
      return rm.score(own, ask);
    },
    update: (own: Batch, ...rest: [Parameters<typeof rm.update>[1], Parameters<typeof rm.update>[2]]) => {
      seen.push(contextOf(own, 0));
      return rm.update(own, ...rest);
    },
  });
  const view = { names: models.names, get: () => watched, perceptron: () => assert.fail() };
  const term = made(rewardModel, { model: "rm", update: "online", given: "{reference}|{prompt}" });
  const clock = { step: 0, stageStep: 0 };
  const values = await term.score(batch, { models: view, tokenizer: fakeTokenizer, clock });
  assert.deepEqual(
    values.map((value) => typeof plain(value)),
    ["number", "number", "string"],
  );
  const right: RewardColumn = {
    name: "right",
    level: "response",
    status: new Uint8Array(3),
    offsets: Int32Array.of(0, 1, 2, 3),
    values: Float64Array.of(0, 1, 0),
    errors: new Map(),
  };
  for (const { train } of term.learners ?? [])
    await train(view, batch, { terms: [right], weights: [1] }, clock);
  assert.deepEqual(seen, [seenAs("42|ask"), seenAs("42|ask")]);
});
