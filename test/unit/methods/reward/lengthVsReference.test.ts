/** O1-Pruner's reward: against answers that the reference wrote once, or that the data has; and a bonus for tools. */
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Batch } from "../../../../server/core/rollouts.ts";
import type { RewardContext } from "../../../../server/core/reward.ts";
import type { TermValue } from "../../../../server/core/slots/reward.ts";
import { lengthVsReference } from "../../../../server/methods/reward/models/lengthVsReference.ts";
import { toolUse } from "../../../../server/methods/reward/process/toolUse.ts";
import { batchOf, task } from "../../../support/batch.ts";
import { FakeModels, fakeTokenizer } from "../../../support/fakePolicy.ts";
import { made, near } from "../../support.ts";
import { plain } from "./support.ts";

const stored = task("a", { data: { tokens: 6, share: 0.25 } });
const rows = batchOf([
  { context: [1], tokens: [2, 3], record: { task: stored } },
  { context: [1], tokens: [2, 3, 4, 5, 6, 7, 8, 9, 1, 2, 3, 4], record: { task: stored } },
]);
const right = (): readonly TermValue[] => [
  { kind: "value", value: 1 },
  { kind: "value", value: 0 },
];
const contextOf = (more: Partial<RewardContext>): RewardContext => ({
  models: new FakeModels(),
  tokenizer: fakeTokenizer,
  clock: { step: 0, stageStep: 0 },
  said: right,
  ...more,
});

test("stored statistics: mean_ref_len / len − 1 + λ (correct − ref_acc)", async () => {
  const term = made(lengthVsReference, { length: "tokens", accuracy: "share" });
  const [short, long] = (await term.score(rows, contextOf({}))).map(plain);
  assert.ok(near(short as number, 6 / 2 - 1 + 5 * 0.75) && near(long as number, 6 / 12 - 1 - 5 * 0.25));
  const missing = made(lengthVsReference, { length: "tokens", accuracy: "none" });
  assert.match(
    String((await missing.score(rows, contextOf({}))).map(plain)[0]),
    /`tokens` and `none` of task a/,
  );
});

test("the reference is sampled once a task", async () => {
  const models = new FakeModels();
  await models.get("policy").snapshot("reference");
  const asked: Batch[] = [];
  const scores = (_: string | undefined, batch: Batch): Promise<readonly TermValue[]> => {
    asked.push(batch);
    return Promise.resolve(
      batch.records.map(({ index }) => ({ kind: "value", value: index % 4 === 0 ? 1 : 0 })),
    );
  };
  const term = made(lengthVsReference, { k: 8, lambda: 2 }, { max_tokens: 5 });
  const [first] = (await term.score(rows, contextOf({ models, scores }))).map(plain);
  const again = (await term.score(rows, contextOf({ models, scores }))).map(plain);
  assert.equal(asked.length, 1);
  assert.equal(asked[0]!.rows, 8);
  const mean =
    asked[0]!.records.reduce(
      (sum, _, row) => sum + Math.max(1, asked[0]!.offsets[row + 1]! - asked[0]!.offsets[row]!),
      0,
    ) / 8;
  assert.ok(near(first as number, mean / 2 - 1 + 2 * 0.75));
  assert.equal(again[0], first);
});

test("tool_use counts the turns in which a tool answered, up to a bound", async () => {
  const turn = { role: "tool", start: 0, end: 1, name: "search" };
  const of = (calls: number): Parameters<typeof batchOf>[0][number] => ({
    context: [1],
    tokens: [2],
    record: {
      turns: [{ role: "assistant", start: 0, end: 1 }, ...Array.from({ length: calls }, () => turn)],
    },
  });
  const term = made(toolUse, {});
  const said = (
    await term.score(batchOf([of(0), of(3), of(20), { context: [1], tokens: [2] }]), contextOf({}))
  ).map(plain);
  assert.ok(near(said[1] as number, 0.3));
  assert.deepEqual([said[0], said[2], said[3]], [0, 1, 0]);
});
