/** PCL's value model on real models: a perceptron, and a language model's head. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { loadConfig } from "../../../../server/rules/load.ts";
import { promptFeatures } from "../../../../server/methods/curriculum/estimators/features.ts";
import { squaredError, valueHead } from "../../../../server/methods/curriculum/estimators/valueHead.ts";
import { openModels } from "../../../../server/run/models/models.ts";
import { minimal } from "../../../support/runFolder.ts";
import { made, near } from "../../support.ts";
import { clock, group, task } from "./support.ts";

test("squared error: its gradient is that of finite differences", () => {
  const [values, targets] = [Float64Array.of(0.2, 0.9, -1), Float64Array.of(1, 0, 0.5)];
  const { loss, gradients } = squaredError(values, targets);
  assert.ok(near(loss, (0.8 ** 2 + 0.9 ** 2 + 1.5 ** 2) / 3));
  values.forEach((value, i) => {
    const moved = values.with(i, value + 1e-6);
    assert.ok(near(gradients[i], (squaredError(moved, targets).loss - loss) / 1e-6, 1e-5));
  });
});

test("features are the same for the same prompt, of length 1, and tell prompts apart", () => {
  const [one, same, other] = ["1 2 3=6:", "1 2 3=6:", "9 9 9=9:"].map((prompt) =>
    promptFeatures({ ...task, prompt }, 64),
  );
  assert.deepEqual(one, same);
  assert.notDeepEqual(one, other);
  assert.ok(near(Math.hypot(...one!.subarray(1)), 1));
});

const easy = Array.from({ length: 8 }, (_, i) => ({ ...task, id: `e${i}`, prompt: `a${i}a` }));
const hard = Array.from({ length: 8 }, (_, i) => ({ ...task, id: `h${i}`, prompt: `z${i}z` }));
const tasks = [...easy, ...hard];
const candidates = tasks.map((one, arm) => ({ arm, task: one }));
const groups = tasks.map((one, i) => group(i < 8 ? [1, 1, 0, 1] : [0, 0, 0, 0], { task: one }));

for (const [what, models, params] of [
  [
    "a perceptron",
    "{ value: { kind: mlp, inputs: 64, widths: [16], trains: true, optimizer: { use: adamw, lr: 0.02 } } }",
    { perceptron: "value" },
  ],
  [
    "a language model's head",
    "{ value: { base: tiny, trains: true, value_heads: [worth], optimizer: { use: adamw, lr: 0.003 } } }",
    { model: "value", head: "worth" },
  ],
] as const)
  test(`${what} learns what prompts earn, and predicts it for those it is asked about`, async () => {
    const { config } = loadConfig(minimal, { set: [`models=${models}`] });
    assert.ok(config);
    const registry = await openModels(config);
    try {
      const estimator = made(valueHead, params, { models: registry });
      assert.equal(estimator.estimate(0), Number.NaN);
      const errors: number[] = [];
      for (let step = 0; step < 60; step++) {
        const metrics = await estimator.model!.train!(groups, clock);
        errors.push(metrics["learner/value/value_error"]!);
      }
      assert.ok(errors.at(-1)! < 0.02 && errors.at(-1)! < errors[0]! / 5, `${errors[0]} → ${errors.at(-1)}`);
      await estimator.model!.predict!(candidates);
      for (const arm of [0, 3]) assert.ok(Math.abs(estimator.estimate(arm) - 0.75) < 0.25);
      for (const arm of [9, 12]) assert.ok(Math.abs(estimator.estimate(arm)) < 0.25);
      const copy = made(valueHead, params, { models: registry });
      copy.load(estimator.save());
      assert.equal(copy.estimate(9), estimator.estimate(9));
      // What a step's groups have earned bounds what is reported, also after a resume.
      estimator.model!.observeGroups!([group([1, 1, 0, 0]), group([1, 1, 1, 1, 1, 0, 0, 0])]);
      copy.load(estimator.save());
      await copy.model!.predict!(candidates);
      for (const { arm } of candidates)
        assert.ok(copy.estimate(arm) >= 0.5 && copy.estimate(arm) <= 0.625, String(copy.estimate(arm)));
    } finally {
      registry.close();
    }
  });

test("it asks for a model of its own", () => {
  assert.throws(() => made(valueHead, {}), /needs a model of its own/);
  assert.throws(() => made(valueHead, { model: "policy" }), /needs a model of its own/);
});
