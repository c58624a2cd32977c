/** `kind: mlp` in `models`: trained with the policy by a term's learner, kept in checkpoints, followed by copies. */
import assert from "node:assert/strict";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { z } from "zod";
import { rewardTerm } from "../../../server/core/declaration.ts";
import { loadConfig } from "../../../server/rules/load.ts";
import type { RunConfig } from "../../../server/core/config/runConfig.ts";
import type { StageBody } from "../../../server/core/config/resolved.ts";
import { policyFolder } from "../../../server/run/checkpoint/checkpoint.ts";
import { Trainer } from "../../../server/run/loop/trainer.ts";
import { beginning } from "../../../server/run/loop/loop.ts";
import { openModels, type RunModels } from "../../../server/run/models/models.ts";
import { nowhere, Recorder } from "../../../server/run/step/log/recorder.ts";
import { FailedSteps } from "../../../server/run/loop/failedSteps.ts";
import type { Session } from "../../../server/run/loop/session.ts";
import type { TermValue } from "../../../server/core/slots/reward.ts";
import type { Batch } from "../../../server/core/rollouts.ts";
import type { Features } from "../../../server/core/policy.ts";
import type { Learner, RewardTerm } from "../../../server/core/reward.ts";
import { minimal } from "../../support/runFolder.ts";

const small = "kind: mlp, inputs: 3, widths: [8], trains: true, optimizer: { use: adamw, lr: 0.05 }";
const configOf = (models: string): RunConfig => {
  const { config, diagnostics } = loadConfig(minimal, { set: [`models=${models}`] });
  assert.ok(config, diagnostics.map(({ message }) => message).join("\n"));
  return config;
};

/** Of each response: how long it is, how sure the model was, whether it ended. */
function featuresOf(batch: Batch): Features {
  const values = batch.records.flatMap(({ finish }, row) => {
    const [from, to] = [batch.offsets[row]!, batch.offsets[row + 1]!];
    const logp = batch.columns.logp_old!.subarray(from, to).reduce((sum, one) => sum + one, 0);
    return [(to - from) / 8, logp / (to - from), finish === "stop" ? 1 : 0];
  });
  return { rows: batch.rows, values: Float64Array.from(values) };
}
/** Learns, by squares, how the first term scored responses like these. */
const learner: Learner = {
  model: "predictor",
  when: "before_advantage",
  async train(models, batch, rewards) {
    const paid = rewards.terms[0]!.values;
    const { loss, grad_norm } = await models.perceptron("predictor").update(featuresOf(batch), (outputs) => ({
      loss: outputs.reduce((sum, value, row) => sum + (value - paid[row]!) ** 2, 0) / batch.rows,
      gradients: outputs.map((value, row) => (2 * (value - paid[row]!)) / batch.rows),
    }));
    return { loss, grad_norm };
  },
};
const predicted = rewardTerm({
  name: "predicted",
  summary: "What a predictor expects of a response.",
  sources: [],
  params: z.object({}),
  create: (): RewardTerm => ({
    learners: [learner],
    async score(batch, { models }) {
      const expected = await models.perceptron("predictor").predict(featuresOf(batch));
      return Array.from(expected, (value): TermValue => ({ kind: "value", value }));
    },
  }),
});
/** The config with a term that no list of methods has. */
function withTerm(config: RunConfig): RunConfig {
  const change = (body: StageBody): StageBody => {
    const [first] = body.reward.terms;
    const term = { ...first!.term, use: "predicted", declaration: predicted, params: {} };
    const own = { ...first!, name: "predicted", term };
    return { ...body, reward: { ...body.reward, terms: [first!, own] } };
  };
  const stages = config.stages.map((stage) => ({ ...stage, body: change(stage.body) }));
  return { ...config, top: change(config.top), stages: stages.filter(({ kind }) => kind === "rl") };
}
async function trainerOf(config: RunConfig, models: RunModels): Promise<Trainer> {
  const session: Session = {
    config,
    policy: models.policy,
    models,
    recorder: new Recorder(nowhere),
    failed: new FailedSteps(),
    signal: new AbortController().signal,
    between: () => Promise.resolve(),
  };
  const trainer = new Trainer(session, undefined, undefined);
  await trainer.prepare();
  return trainer;
}
const withoutTimes = (metrics: Readonly<Record<string, number>>): [string, number][] =>
  Object.entries(metrics).filter(([name]) => !name.startsWith("time/") && !name.startsWith("memory/"));

test("a predictor learns next to the policy, and a resumed run goes on with it bit for bit", async () => {
  const config = withTerm(
    configOf(`{ predictor: { ${small} }, slow: { ema: { of: predictor, decay: 0.5 } } }`),
  );
  const folder = mkdtempSync(join(tmpdir(), "gradus-predictor-"));
  const [first, second] = [await openModels(config), await openModels(config)];
  try {
    const trainer = await trainerOf(config, first);
    await trainer.enter(0, beginning);
    const step = (by: Trainer, number: number) => by.step({ step: number, stageStep: number }, number);
    const { version } = first.perceptron("predictor");
    const metrics = await step(trainer, 0);
    assert.ok(metrics["learner/predictor/loss"]! > 0 && metrics["learner/predictor/grad_norm"]! > 0);
    assert.ok(Number.isFinite(metrics["reward/predicted"]));
    assert.equal(first.perceptron("predictor").version, version + 1);
    const { tensors } = first.policy.counters();
    await step(trainer, 1);
    assert.equal(first.policy.counters().tensors, tensors, "a step leaves no value behind");
    // The copy is between the beginning and now.
    const probe = { rows: 1, values: Float64Array.of(1, -1, 1) };
    const slow = await first.perceptron("slow").predict(probe);
    assert.notDeepEqual(slow, await first.perceptron("predictor").predict(probe));

    await first.policy.save(join(folder, policyFolder));
    await first.save(folder);
    assert.ok(existsSync(join(folder, "models", "predictor", "perceptron.safetensors")));
    await second.policy.load(join(folder, policyFolder));
    await second.restore(folder);
    assert.deepEqual(await second.perceptron("slow").predict(probe), slow);
    assert.equal(second.perceptron("predictor").version, 2);
    const resumed = await trainerOf(config, second);
    await resumed.enter(0, { ...beginning, entered: true });
    resumed.components.load(trainer.components.save());
    assert.deepEqual(withoutTimes(await step(resumed, 2)), withoutTimes(await step(trainer, 2)));
    for (const one of [trainer, resumed]) await one.components.close();
  } finally {
    first.close();
    second.close();
    rmSync(folder, { recursive: true });
  }
});

test("a frozen one is a fixed random map; what is not of its kind says so", async () => {
  const models = await openModels(configOf("{ fixed: { kind: mlp, inputs: 2, outputs: 4 }, judge: tiny }"));
  const again = await openModels(configOf("{ fixed: { kind: mlp, inputs: 2, outputs: 4 } }"));
  try {
    const probe = { rows: 2, values: Float64Array.of(1, 2, 3, 4) };
    const outputs = await models.perceptron("fixed").predict(probe);
    assert.equal(outputs.length, 8);
    assert.deepEqual(
      await again.perceptron("fixed").predict(probe),
      outputs,
      "of the run's seed and its name",
    );
    const nothing = (of: Float64Array) => ({ loss: 0, gradients: new Float64Array(of.length) });
    await assert.rejects(models.perceptron("fixed").update(probe, nothing), /fixed is frozen/);
    assert.throws(() => models.get("fixed"), /fixed is not a language model/);
    assert.throws(() => models.perceptron("judge"), /judge is not a multilayer perceptron/);
    assert.throws(() => models.perceptron("ghost"), /no model ghost/);
    assert.equal(models.trains("fixed"), false);
  } finally {
    models.close();
    again.close();
  }
});

test("the config says what belongs to a perceptron and what does not", () => {
  const wrong = (models: string, rule = "model-registry"): string[] =>
    loadConfig(minimal, { set: [`models=${models}`, "kl=[{ model: a }]"] })
      .diagnostics.filter((found) => found.rule === rule)
      .map(({ message }) => message);
  assert.match(wrong("{ a: { kind: mlp } }")[0]!, /needs `inputs`/);
  assert.match(wrong("{ a: { kind: mlp, inputs: 3, base: tiny } }")[0]!, /has no `base`/);
  assert.match(wrong("{ a: { kind: mlp, inputs: 3, trains: true } }")[0]!, /needs an `optimizer`/);
  assert.match(wrong("{ a: { base: tiny, widths: [3] } }")[0]!, /write `kind: mlp`/);
  assert.deepEqual(wrong("{ a: { kind: mlp, inputs: 3 }, b: { ema: { of: a } } }"), []);
  assert.match(
    wrong("{ a: { kind: mlp, inputs: 3 } }", "kl-model")[0]!,
    /measures against `a`, but there is no such model/,
  );
  assert.match(wrong("{ a: { kind: mlp, inputs: 0 } }", "type").join(), /at least 1/);
  const [one] = configOf("{ a: { kind: mlp, inputs: 3 } }").models;
  assert.deepEqual(one, {
    name: "a",
    kind: "perceptron",
    shape: { inputs: 3, widths: [64, 64], outputs: 1, activation: "relu" },
    optimizer: undefined,
  });
});
