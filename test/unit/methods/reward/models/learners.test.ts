import assert from "node:assert/strict";
import { test } from "node:test";
import { implicitPrm } from "../../../../../server/methods/reward/models/implicitPrm.ts";
import { rewardModel } from "../../../../../server/methods/reward/models/rewardModel.ts";
import type { TermValue } from "../../../../../server/core/slots/reward.ts";
import type { RewardColumn, RewardTerm, Rewards } from "../../../../../server/core/reward.ts";
import { UserError } from "../../../../../shared/lib/errors.ts";
import { batchOf } from "../../../../support/batch.ts";
import { FakeModels, fakeTokenizer } from "../../../../support/fakePolicy.ts";
import { made } from "../../../support.ts";

const clock = { step: 0, stageStep: 0 };
const batch = batchOf([
  { context: [1], tokens: [2, 3] },
  { context: [1], tokens: [4, 5, 6] },
  { context: [1], tokens: [2, 7] },
]);
const labels = (values: readonly number[], name = "right"): RewardColumn => ({
  name,
  level: "response",
  status: Uint8Array.from(values, (value) => (Number.isNaN(value) ? 1 : 0)),
  offsets: Int32Array.from({ length: values.length + 1 }, (_, i) => i),
  values: Float64Array.from(values, (value) => (Number.isNaN(value) ? 0 : value)),
  errors: new Map(),
});
const paid: Rewards = { terms: [labels([1, 0, Number.NaN])], weights: [1] };

async function taught(
  term: RewardTerm,
  models: FakeModels,
  rewards = paid,
): Promise<Record<string, number>[]> {
  const metrics: Record<string, number>[] = [];
  for (let i = 0; i < 6; i++)
    for (const { train } of term.learners ?? [])
      metrics.push({ ...(await train(models, batch, rewards, clock)) });
  return metrics;
}
const scored = (term: RewardTerm, models: FakeModels): Promise<readonly TermValue[]> =>
  term.score(batch, { models, tokenizer: fakeTokenizer, clock });
const total = (value: TermValue | undefined): number =>
  value?.kind === "values"
    ? value.values.reduce((a, b) => a + b, 0)
    : value?.kind === "value"
      ? value.value
      : Number.NaN;

test("an implicit process reward model begins at nothing, learns what is right and scores every token of it", async () => {
  const models = new FakeModels({ size: 10, models: ["prm"], lr: 2 });
  await models.get("prm").snapshot("reference");
  const term = made(implicitPrm, { model: "prm", beta: 0.5 });
  assert.deepEqual((await scored(term, models)).map(total), [0, 0, 0]);
  const metrics = await taught(term, models);
  assert.ok(Math.abs(metrics[0]!["loss"]! - Math.log(2)) < 1e-9);
  assert.ok(metrics.at(-1)!["loss"]! < metrics[0]!["loss"]!);
  const values = await scored(term, models);
  assert.ok(total(values[0]) > 0 && total(values[1]) < 0);
  assert.deepEqual(
    values.map((value) => (value.kind === "values" ? value.values.length : 0)),
    [2, 3, 2],
  );
  assert.equal(models.get("policy").version, 0);
});

test("the response's reward is the sum of its tokens'", async () => {
  const models = new FakeModels({ size: 10, models: ["prm"], lr: 2 });
  await models.get("prm").snapshot("reference");
  const [tokens, response] = [
    made(implicitPrm, { model: "prm" }),
    made(implicitPrm, { model: "prm", level: "response" }),
  ];
  await taught(tokens, models);
  const [left, right] = [await scored(tokens, models), await scored(response, models)];
  left.forEach((value, row) => assert.ok(Math.abs(total(value) - total(right[row])) < 1e-12));
});

test("a reward model's head learns the order of a pair, and nothing while it is frozen", async () => {
  const models = new FakeModels({ size: 10, models: ["judge"], heads: ["reward"], lr: 1 });
  const term = made(rewardModel, { model: "judge", update: "online" });
  const metrics = await taught(term, models);
  assert.equal(metrics[0]!["update/pairs"], 1);
  const values = await scored(term, models);
  assert.ok(total(values[0]) > total(values[1]));
  assert.equal(made(rewardModel, { model: "judge" }).learners, undefined);
});

test("labels come from a named term; without any there is an error that says so", async () => {
  const models = new FakeModels({ size: 10, models: ["prm"] });
  await models.get("prm").snapshot("reference");
  const rewards: Rewards = { terms: [labels([0, 0, 0], "other"), ...paid.terms], weights: [1, 1] };
  const named = await taught(made(implicitPrm, { model: "prm", from: "right" }), models, rewards);
  assert.ok(named[0]!["loss"]! > 0);
  await assert.rejects(
    taught(made(implicitPrm, { model: "prm", from: "nowhere" }), models, rewards),
    (error) => error instanceof UserError && /nowhere/.test(error.message),
  );
  await assert.rejects(
    taught(made(implicitPrm, { model: "prm" }), models, {
      terms: [labels([Number.NaN, Number.NaN, Number.NaN])],
      weights: [1],
    }),
    (error) => error instanceof UserError && /another reward term/.test(error.message),
  );
});
