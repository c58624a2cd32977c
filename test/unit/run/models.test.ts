/** The registry of models on the real engine: frozen, trained with the policy, averaged. */
import assert from "node:assert/strict";
import { mkdtempSync, readdirSync, renameSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { z } from "zod";
import { rewardTerm } from "../../../server/core/declaration.ts";
import { loadConfig } from "../../../server/rules/load.ts";
import type { RunConfig } from "../../../server/core/config/runConfig.ts";
import type { StageBody } from "../../../server/core/config/resolved.ts";
import { beginning } from "../../../server/run/loop/loop.ts";
import { openModels } from "../../../server/run/models/models.ts";
import { nowhere, Recorder, type Appended } from "../../../server/run/step/log/recorder.ts";
import { FailedSteps } from "../../../server/run/loop/failedSteps.ts";
import type { Session } from "../../../server/run/loop/session.ts";
import { Trainer } from "../../../server/run/loop/trainer.ts";
import type { TermValue } from "../../../server/core/slots/reward.ts";
import type { Learner, RewardTerm } from "../../../server/core/reward.ts";
import { batchOf } from "../../support/batch.ts";
import { essence, minimal, ofKind, testRun } from "../../support/runFolder.ts";
import { largestDifference, open } from "../engine/support.ts";

const size = "width: 16, layers: 1, heads: 2, hidden: 32, context: 64";
const clock = { step: 0, stageStep: 0 };

function configOf(...set: readonly string[]): RunConfig {
  const { config, diagnostics } = loadConfig(minimal, { set });
  assert.ok(config, diagnostics.map(({ message }) => message).join("\n"));
  return config;
}

test("a frozen teacher is a divergence of its own, averages follow the policy, and a resumed run has them all", async () => {
  const folder = mkdtempSync(join(tmpdir(), "gradus-teacher-"));
  const teacher = await open({
    model: {
      base: "tiny",
      size: { width: 16, layers: 1, heads: 2, kv_heads: 2, hidden: 32, context: 64, tied: true },
    },
    seed: 99,
  });
  await teacher.save(join(folder, "teacher"));
  teacher.close();
  const run = testRun([
    `models={ teacher: { base: ${JSON.stringify(join(folder, "teacher"))} }, average: { ema: { decay: 0.5 } }, slow: { polyak: { every: 3, tau: 0.5 } } }`,
    "kl=[{ model: teacher, coefficient: 0.01 }, { model: average, coefficient: 0.01 }, { model: slow, coefficient: 0.01 }]",
    "checkpoint.keep=9",
  ]);
  try {
    assert.equal(await run.work(), 0, run.ending());
    const whole = run.records();
    const values = ofKind(whole, "metrics").filter(({ step }) => step >= 10);
    for (const name of ["teacher", "average", "slow"])
      assert.ok(
        values.every(({ values: of }) => Number(of[`policy/kl/${name}`]) > 0),
        `policy/kl/${name}`,
      );
    const divergence = (name: string): number => Number(values.at(-1)!.values[`policy/kl/${name}`]);
    assert.ok(divergence("average") < divergence("teacher"), "an average stays near the policy");
    assert.deepEqual(readdirSync(join(run.folder, "checkpoints", "14", "snapshots", "policy")).sort(), [
      "average.safetensors",
      "slow.safetensors",
    ]);
    rmSync(join(run.folder, "checkpoints", "19"), { recursive: true });
    assert.equal(await run.work(1), 0, run.ending(1));
    assert.deepEqual(essence(run.records(1), 15), essence(whole, 15));
  } finally {
    run.remove();
    rmSync(folder, { recursive: true });
  }
});

test("a critic begins with another model's weights, heads included, and goes its own way from there", async () => {
  const heads = "trains: true, optimizer: { use: adamw, lr: 0.01 }, value_heads";
  const models = await openModels(
    configOf(
      `models={ prm: { base: tiny, ${size}, ${heads}: [value] }, critic: { base: tiny, ${size}, ${heads}: [value] }, other: { base: tiny, ${size}, ${heads}: [v] }, frozen: { base: tiny, ${size} } }`,
    ),
  );
  const batch = batchOf([{ context: [1], tokens: [5, 6, 7] }]);
  const channel = "head:value" as const;
  const learn = (name: string): Promise<unknown> =>
    models.get(name).update(batch, { channels: [channel], unit: "sequence" }, (now) => ({
      loss: 0,
      gradients: { [channel]: now[channel]!.map((value, t) => value - t) },
    }));
  const valuesOf = async (name: string): Promise<readonly number[]> => [
    ...(await models.get(name).score(batch, { model: name, channels: [channel] }))[channel]!,
  ];
  try {
    await learn("prm");
    assert.notDeepEqual(await valuesOf("critic"), await valuesOf("prm"));
    models.init("critic", "prm");
    const begun = await valuesOf("critic");
    assert.deepEqual(begun, await valuesOf("prm"));
    await learn("critic");
    assert.notDeepEqual(await valuesOf("critic"), begun);
    assert.deepEqual(await valuesOf("prm"), begun, "the weights are copied, not shared");
    assert.throws(() => models.init("critic", "other"), /they differ in head/);
    assert.throws(() => models.init("frozen", "prm"), /not a language model that trains/);
    assert.throws(() => models.init("critic", "nobody"), /There is no model nobody/);
  } finally {
    models.close();
  }
});

test("an average is what its recurrence says, and a copy moves only when it is due", async () => {
  const models = await openModels(
    configOf("models={ average: { ema: { decay: 0.75 } }, slow: { polyak: { every: 2, tau: 0.25 } } }"),
  );
  try {
    const { policy } = models;
    const weight = (of?: string): Float32Array => policy.readTrained(of)["0.down"]!;
    const [start, baseline] = [weight(), policy.counters().tensors];
    let [average, slow] = [start, start];
    for (let update = 1; update <= 4; update++) {
      await models.get("policy").update(rows(), { channels: ["logp"], unit: "sequence" }, (_now, batch) => ({
        loss: 0,
        gradients: { logp: new Float64Array(batch.tokens.length).fill(-1) },
      }));
      const now = weight();
      const towards = (from: Float32Array, kept: number): Float32Array =>
        from.map((value, i) => kept * value + (1 - kept) * now[i]!);
      average = towards(average, 0.75);
      if (update % 2 === 0) slow = towards(slow, 0.75);
      assert.ok(largestDifference(average, weight("average")) < 1e-6);
      assert.ok(largestDifference(slow, weight("slow")) < 1e-6);
    }
    assert.ok(largestDifference(start, weight()) > 1e-3);
    // Copies began as the policy's own values, and have since got values of their own.
    assert.ok(policy.counters().tensors > baseline);
    const before = policy.counters().tensors;
    await models.get("policy").update(rows(), { channels: ["logp"], unit: "sequence" }, (_now, batch) => ({
      loss: 0,
      gradients: { logp: new Float64Array(batch.tokens.length).fill(-1) },
    }));
    assert.equal(policy.counters().tensors, before);
  } finally {
    models.close();
  }
});

const rows = () => {
  const tokens = Int32Array.of(10, 11, 12, 2);
  return batchOf([{ context: [5, 6], tokens: [...tokens] }]);
};

/** A reward model that learns which responses were right, and scores every token by what it has learned. */
const order: string[] = [];
const learner: Learner = {
  model: "judge",
  when: "before_advantage",
  async train(models, batch, rewards) {
    order.push("train");
    const judge = models.get("judge");
    const right = rewards.terms[0]!;
    const { loss } = await judge.update(batch, { channels: ["logp"], unit: "sequence" }, (now) => {
      const slope = new Float64Array(batch.tokens.length);
      let sum = 0;
      for (let row = 0; row < batch.rows; row++) {
        const factor = (right.values[row]! - 0.5) / batch.rows;
        for (let t = batch.offsets[row]!; t < batch.offsets[row + 1]!; t++) {
          slope[t] = -factor;
          sum -= factor * now.logp![t]!;
        }
      }
      return { loss: sum, gradients: { logp: slope } };
    });
    return { loss };
  },
};
const judged = rewardTerm({
  name: "judged",
  summary: "The change of a reward model's log-probs.",
  sources: [],
  params: z.object({}),
  create: (): RewardTerm => ({
    learners: [learner],
    async score(batch, { models }) {
      order.push("score");
      const judge = models.get("judge");
      const { logp } = await judge.score(batch, { model: "judge", channels: ["logp"] });
      const { logp: other } = await judge.score(batch, { model: "policy", channels: ["logp"] });
      assert.ok(other, "a model of the run is reached through any other");
      return Array.from({ length: batch.rows }, (_, row): TermValue => ({
        kind: "values",
        level: "token",
        values: [...logp!.subarray(batch.offsets[row]!, batch.offsets[row + 1]!)],
      }));
    },
  }),
});

/** The config with a term that no list of methods has. */
function withTerm(config: RunConfig): RunConfig {
  const change = (body: StageBody): StageBody => {
    const [first] = body.reward.terms;
    const own = {
      ...first!,
      name: "judged",
      term: { ...first!.term, use: "judged", declaration: judged, params: {} },
    };
    return { ...body, reward: { ...body.reward, terms: [first!, own] } };
  };
  const stages = config.stages.map((stage) => ({ ...stage, body: change(stage.body) }));
  return { ...config, top: change(config.top), stages: stages.filter(({ kind }) => kind === "rl") };
}

async function sessionOf(config: RunConfig): Promise<{ session: Session; records: Appended[] }> {
  const models = await openModels(config);
  const records: Appended[] = [];
  const session: Session = {
    config,
    policy: models.policy,
    models,
    recorder: new Recorder(nowhere, (record) => records.push(record)),
    failed: new FailedSteps(),
    signal: new AbortController().signal,
    between: () => Promise.resolve(),
  };
  return { session, records };
}

test("a learner trains on the batch before its term scores, and the policy after both", async () => {
  const judge = `models={ judge: { base: tiny, ${size}, trains: true, optimizer: { use: adamw, lr: 0.01 } } }`;
  const { session, records } = await sessionOf(withTerm(configOf(judge)));
  const trainer = new Trainer(session, undefined, undefined);
  order.length = 0;
  try {
    await trainer.prepare();
    await trainer.enter(0, beginning);
    const metrics = await trainer.step(clock, 0);
    assert.deepEqual(order, ["train", "score"]);
    assert.equal(session.models.get("judge").version, 1);
    assert.equal(session.models.get("policy").version, 1);
    assert.ok(Number.isFinite(metrics["learner/judge/loss"]));
    assert.ok(metrics["reward/judged"]! < 0, "the mean of summed log-probs");
    const rollouts = records.filter((record) => record.kind === "rollout");
    assert.ok(rollouts.every(({ row }) => Object.keys(row.rewards ?? {}).join() === "correct,judged"));
    const tensors = session.policy.counters().tensors;
    await trainer.step({ step: 1, stageStep: 1 }, 1);
    assert.equal(session.policy.counters().tensors, tensors, "a step leaves no value behind");
  } finally {
    await trainer.components.close();
    session.models.close();
  }
});

for (const asEarlier of [false, true])
  test(`a checkpoint ${asEarlier ? "of an earlier version " : ""}holds trained models, and what they learned comes back`, async () => {
    const set = `models={ aux: { base: tiny, ${size}, trains: true, optimizer: { use: adamw, lr: 0.01 } } }`;
    const folder = mkdtempSync(join(tmpdir(), "gradus-models-"));
    const [first, second] = [await openModels(configOf(set)), await openModels(configOf(set))];
    try {
      const plan = { channels: ["logp" as const], unit: "sequence" as const };
      await first.get("aux").update(rows(), plan, (_now, batch) => ({
        loss: 0,
        gradients: { logp: new Float64Array(batch.tokens.length).fill(-1) },
      }));
      await first.get("aux").snapshot("before");
      await first.save(folder);
      const places = [join(folder, "models"), join(folder, "snapshots")] as const;
      for (const place of places) {
        assert.deepEqual(readdirSync(place), ["aux~"], "Windows has no file `aux`");
        if (asEarlier) renameSync(join(place, "aux~"), join(place, "aux"));
      }
      await second.restore(folder);
      const asked = { model: "aux", channels: ["logp" as const] };
      const [a, b] = [
        await first.get("aux").score(rows(), asked),
        await second.get("aux").score(rows(), asked),
      ];
      assert.deepEqual(b.logp, a.logp);
      assert.equal(second.get("aux").version, 1);
      const kept = await second.get("aux").score(rows(), { model: "before", channels: ["logp"] });
      assert.deepEqual(kept.logp, a.logp);
    } finally {
      first.close();
      second.close();
      rmSync(folder, { recursive: true });
    }
  });

test("a divergence over the whole vocabulary from another model, in one pass with log-probs", async () => {
  const models = await openModels(configOf(`models={ teacher: { base: tiny, ${size} } }`));
  try {
    const policy = models.get("policy");
    const stats = await policy.score(rows(), {
      model: "policy",
      channels: ["logp", "logp:teacher", "kl:teacher:reverse"],
    });
    const alone = await models.get("teacher").score(rows(), { model: "teacher", channels: ["logp"] });
    assert.deepEqual(stats["logp:teacher"], alone.logp);
    assert.ok(largestDifference(stats.logp!, alone.logp!) > 1e-3, "two models");
    assert.ok(stats["kl:teacher:reverse"]!.every((value) => value > 0));
    const { version } = policy;
    await policy.update(rows(), { channels: ["logp:teacher", "logp"], unit: "sequence" }, (now, batch) => {
      assert.deepEqual(now["logp:teacher"], alone.logp);
      return { loss: 0, gradients: { logp: new Float64Array(batch.tokens.length).fill(-1) } };
    });
    assert.equal(policy.version, version + 1);
  } finally {
    models.close();
  }
});

test("a divergence from a model with other tokens says in what they differ", async () => {
  const other = "{ other: { base: tiny, tokenizer: { use: bpe, vocabulary: 300 } } }";
  const models = await openModels(configOf(`models=${other}`));
  try {
    const ask = { model: "policy", channels: ["kl:other:forward" as const] };
    await assert.rejects(
      models.get("policy").score(rows(), ask),
      /model other and the policy have different tokenizers \(they have \d+ and \d+ tokens\), so their distributions/,
    );
  } finally {
    models.close();
  }
});

test("what the registry cannot do says so and what to write", async () => {
  const models = await openModels(configOf(`models={ still: { base: tiny, ${size} } }`));
  try {
    const nothing = () => ({ loss: 0, gradients: {} });
    await assert.rejects(
      models.get("still").update(rows(), { channels: ["logp"], unit: "sequence" }, nothing),
      /still is frozen/,
    );
    assert.throws(() => models.get("ghost"), /no model ghost/);
    await assert.rejects(models.get("policy").snapshot("still"), /cannot be called still/);
  } finally {
    models.close();
  }
  const { session } = await sessionOf(withTerm(configOf(`models={ judge: { base: tiny, ${size} } }`)));
  const trainer = new Trainer(session, undefined, undefined);
  try {
    await assert.rejects(trainer.prepare(), /trains the model judge, which is frozen/);
  } finally {
    await trainer.components.close();
    session.models.close();
  }
});

test("the registry's errors are on the key that is wrong", () => {
  const wrong = (models: string): string[] =>
    loadConfig(minimal, { set: [`models=${models}`] })
      .diagnostics.filter(({ rule }) => rule === "model-registry")
      .map(({ message }) => message);
  assert.match(wrong("{ a: { base: tiny, trains: true } }")[0]!, /needs an `optimizer`/);
  assert.match(wrong("{ a: { base: tiny, optimizer: adamw } }")[0]!, /is frozen: set `trains: true`/);
  assert.match(wrong("{ reference: tiny }")[0]!, /every run has/);
  assert.match(wrong("{ a: { trains: true } }")[0]!, /needs `base`/);
  assert.match(wrong("{ a: { base: tiny, ema: {} } }")[0]!, /not both/);
  assert.match(wrong("{ a: { ema: { of: polcy } } }")[0]!, /Did you mean `policy`/);
  assert.match(wrong("{ a: { ema: {}, trains: true } }")[0]!, /copy of another model has no `trains`/);
  assert.match(wrong("{ a: ./missing }")[0]!, /no model at/);
  assert.deepEqual(wrong("{ a: tiny, b: { ema: { of: a } } }"), []);
  assert.equal(configOf("models.policy.width=32").model.size.width, 32);
});
