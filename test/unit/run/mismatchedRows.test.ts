/** Prompts with the responses to others, on a model that can be added up by hand. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { mismatchedRatios } from "../../../server/run/step/score/mismatchedRows.ts";
import { batchOf } from "../../support/batch.ts";
import { FakeModels } from "../../support/fakePolicy.ts";

const tasks = ["a", "a", "b", "b", "c"];
const prompts = [1, 1, 2, 2, 3];
const responses = [[4, 5], [6], [7, 8, 9], [4], [5, 5]];
const base = batchOf(responses.map((tokens, row) => ({ context: [prompts[row]!], tokens })));
const batch = {
  ...base,
  group: Int32Array.of(0, 0, 1, 1, 2),
  groups: 3,
  records: base.records.map((record, row) => ({ ...record, task: { ...record.task, id: tasks[row]! } })),
};

test("each prompt meets a response to another task; what is summed is its log-ratio to the anchor", async () => {
  const models = new FakeModels({ size: 10, models: ["anchor"] });
  const ratios = await mismatchedRatios(models, batch, "anchor");
  // A group of two goes two rows on, a group of one goes one: rows 2, 3, 4, 0 and 0.
  const partners = [2, 3, 4, 0, 0];
  for (const [row, partner] of partners.entries()) {
    const one = batchOf([{ context: [prompts[row]!], tokens: responses[partner]! }]);
    const [now, other] = await Promise.all(
      ["policy", "anchor"].map((model) => models.get("policy").score(one, { model, channels: ["logp"] })),
    );
    const sum = responses[partner]!.reduce((total, _, t) => total + now!.logp![t]! - other!.logp![t]!, 0);
    assert.ok(Math.abs(ratios[row]! - sum) < 1e-12, `row ${row}`);
  }
});

test("rollouts of one task have no other's", async () => {
  const models = new FakeModels({ size: 10, models: ["anchor"] });
  const alone = {
    ...batch,
    records: batch.records.map((record) => ({ ...record, task: { ...record.task, id: "a" } })),
  };
  assert.ok((await mismatchedRatios(models, alone, "anchor")).every(Number.isNaN));
});
