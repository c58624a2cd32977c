/** PRIME compared with its released code: how a token is rewarded, when the process reward model learns, and the code's advantages. */
import assert from "node:assert/strict";
import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { implicitPrm } from "../../../server/methods/reward/models/implicitPrm.ts";
import type { RewardColumn, Rewards } from "../../../server/core/reward.ts";
import { batchOf } from "../../support/batch.ts";
import { FakeModels, fakeTokenizer } from "../../support/fakePolicy.ts";
import { ofKind, testRun } from "../../support/runFolder.ts";
import { close, explained } from "../analysis/explain/support.ts";
import { made, near, row, temporary } from "../support.ts";

const clock = { step: 0, stageStep: 0 };
const batch = batchOf([
  { context: [1], tokens: [2, 3] },
  { context: [1], tokens: [4, 5, 6] },
  { context: [1], tokens: [2, 7] },
]);
const column = (name: string, values: readonly number[]): RewardColumn => ({
  name,
  level: "response",
  status: new Uint8Array(values.length),
  offsets: Int32Array.from({ length: values.length + 1 }, (_, i) => i),
  values: Float64Array.from(values),
  errors: new Map(),
});
const sum = (values: readonly number[]): number => values.reduce((a, b) => a + b, 0);

test("PRIME: log-ratios over the largest sum of those from a token on, whatever β is", async () => {
  const models = new FakeModels({ size: 10, models: ["prm"], lr: 2 });
  await models.get("prm").snapshot("reference");
  const plain = made(implicitPrm, { model: "prm", beta: 1 });
  const rewards: Rewards = { terms: [column("right", [1, 0, 1])], weights: [1] };
  for (let i = 0; i < 4; i++)
    for (const { train } of plain.learners ?? []) await train(models, batch, rewards, clock);
  const context = { models, tokenizer: fakeTokenizer, clock };
  const valuesOf = async (options: object): Promise<number[][]> =>
    (await made(implicitPrm, { model: "prm", ...options }).score(batch, context)).map((value) =>
      value.kind === "values" ? value.values.map(Number) : [],
    );
  const ratios = await valuesOf({ beta: 1 });
  // reverse_cumsum = cumsum(flip(q)); q / (reverse_cumsum.abs().max() + 1e-6)
  const largest = Math.max(...ratios.flatMap((own) => own.map((_, t) => Math.abs(sum(own.slice(t))))));
  assert.ok(largest > 0.01);
  for (const beta of [0.05, 2]) {
    const scaled = await valuesOf({ beta, scale: "largest_return" });
    scaled.forEach((own, i) =>
      close(
        own,
        ratios[i]!.map((ratio) => ratio / (largest + 1e-6)),
      ),
    );
  }
});

test("PRIME: what learns after it has scored takes its labels from another term", async () => {
  const models = new FakeModels({ size: 10, models: ["prm"], lr: 2 });
  await models.get("prm").snapshot("reference");
  const term = made(implicitPrm, { model: "prm", update: "after" });
  const [learner] = term.learners ?? [];
  assert.equal(learner?.when, "after_advantage");
  const labels = column("right", [1, 0, 1]);
  const done = await learner.train(
    models,
    batch,
    { terms: [column("prm", [0, 0, 0]), labels], weights: [1, 1] },
    clock,
  );
  // Its own values are no labels: ln 2 is the cross-entropy of a model that says nothing yet, of labels of both kinds.
  assert.ok(near(done["loss"], Math.log(2), 1e-9));
  const context = { models, tokenizer: fakeTokenizer, clock };
  const [right, wrong] = (await term.score(batch, context)).map((value) =>
    value.kind === "values" ? sum(value.values.map(Number)) : Number.NaN,
  );
  assert.ok(right! > 0 && wrong! < 0);
});

test("PRIME: the released code's advantages: each source against its group, summed from each token on, whitened", async () => {
  const outcomes = [1, 0, 0, 1];
  const lengths = [3, 2, 4, 1];
  const process = lengths.map((n, i) => Array.from({ length: n }, (_, t) => 0.3 * Math.sin(4 * i + t)));
  const rows = process.map((values, i) =>
    row("g", i, {
      rewards: { process: { level: "token", values }, outcome: outcomes[i]! },
      logp_old: values.map(() => -1),
      logp_new: values.map(() => -1),
    }),
  );
  const { rollouts } = await explained(
    "extends: prime\nreward: { terms: { outcome: equation } }\nadvantage: { baseline: { use: leave_one_out, own: scaled } }",
    rows,
  );
  const k = outcomes.length;
  /** `r · n/(n − 1) − Σ_j mean_j/(n − 1)`, the mean of a response being that of its tokens that are rewarded. */
  const against = (value: number, means: readonly number[]): number =>
    (value * k) / (k - 1) - sum(means) / (k - 1);
  const means = process.map((own) => sum(own) / own.length);
  const returns = process.map((own, i) =>
    own.map(
      (_, t) => sum(own.slice(t).map((value) => against(value, means))) + against(outcomes[i]!, outcomes),
    ),
  );
  const all = returns.flat();
  const mean = sum(all) / all.length;
  const variance = sum(all.map((value) => (value - mean) ** 2)) / (all.length - 1);
  rollouts.forEach(({ advantages, grad_logp }, i) => {
    const wanted = returns[i]!.map((value) => (value - mean) / Math.sqrt(variance + 1e-8));
    close(advantages ?? [], wanted, 1e-9);
    close(
      grad_logp ?? [],
      wanted.map((a) => -a / all.length),
      1e-9,
    );
  });
});

const size = "base: tiny, width: 16, layers: 1, heads: 2, hidden: 32, context: 64";
const config = (update: string): string => `extends: prime
model: { ${size} }
models: { prm: { ${size}, optimizer: { use: adamw, lr: 0.01 } } }
tasks: [{ env: countdown, numbers: [3] }]
curriculum: { admission: none }
rollout: { prompts: 2, max_tokens: 4 }
update: { mini_batch: 8 }
reward: { terms: { process: { update: ${update} }, right: equation } }
stages: [{ name: only, steps: 1 }]
evaluation: { every: 100, prompts: 2 }
`;

/** The process reward model's rewards of the first step's tokens. */
async function firstPaid(update: string): Promise<number[]> {
  const folder = temporary();
  const file = join(folder, "test.gradus.yaml");
  writeFileSync(file, config(update));
  const run = testRun([], file);
  try {
    assert.equal(await run.work(), 0, run.ending());
    return ofKind(run.records(), "rollout")
      .filter(({ row }) => row.use === "train")
      .flatMap(({ row }) => {
        const process = row.rewards?.["process"];
        assert.ok(process !== null && typeof process === "object", "a rollout has no process reward");
        return process.values.map(Number);
      });
  } finally {
    run.remove();
    rmSync(folder, { recursive: true });
  }
}

test("PRIME: a step is scored by the process reward model as it was before it learned from the step", async () => {
  const [after, online, never] = [
    await firstPaid("after"),
    await firstPaid("online"),
    await firstPaid("frozen"),
  ];
  close(after, never);
  assert.ok(after.length > 8);
  assert.ok(online.some((value, t) => Math.abs(value - never[t]!) > 1e-6));
});
