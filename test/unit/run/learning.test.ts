/**
 * A policy of 0.02 million weights learns to write threes where it wrote digits at random: one preset of each family
 * of losses. The same runs with every derivative's sign flipped must not get there.
 *
 * ILQL's slow copies move by 0.005 an update, too little for 30 steps: here they follow faster, in four updates a step.
 * ArCHer is not among them. Its critic is linear in states of a model that has only learned to write digits at random, and
 * those hardly say which were written: after 1200 updates on the same policy Q − V is correlated with the reward by 0.2,
 * and until then the policy follows noise. That the regressions themselves come to rest where they should is shown
 * in tables: test/unit/methods/objective/fixedPoint.test.ts.
 */
import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { LossChain, type Update } from "../../../server/algorithm/loss/loss.ts";
import { randomStream } from "../../../server/lib/random.ts";
import type { Clock } from "../../../server/core/basics.ts";
import type { Weigh } from "../../../server/core/policy.ts";
import { ofKind, testRun } from "../../support/runFolder.ts";
import { some } from "../../support/thorough.ts";

const warmUp = 30;
const steps = 30;

/** Presets, and what differs from the common config: a gentler rate where the loss is steep. */
const families: Readonly<Record<string, { readonly preset: string; readonly set?: readonly string[] }>> = {
  "surrogate policy gradient": { preset: "grpo" },
  "log-ratio regression": { preset: "kimi-k1.5" },
  "pairwise logistic": { preset: "online-dpo" },
  "weighted likelihood": { preset: "raft" },
  "ranking hinge": { preset: "rrhf" },
  "value regression": {
    preset: "ppo",
    set: ["update.optimizer.lr=0.003", "model.value_heads=[{ name: value, detach: true }]", "kl=[]"],
  },
  "value regression, a policy perturbed by two Qs": {
    preset: "ilql",
    set: ["models.slow.polyak.tau=0.5", "update.epochs=4"],
  },
  "value regression, the logits as Q": { preset: "b-coder" },
  NFT: { preset: "nft" },
  PACS: { preset: "pacs" },
  ROVER: { preset: "rover" },
  "soft Q": {
    preset: "grpo",
    set: ["objective={ use: soft_q, target: proximal, scale: 20, aggregate: sequence_sum }"],
  },
  BRAIn: { preset: "brain", set: ["objective.gamma=0.1", "update.optimizer.lr=0.003"] },
};

const places = ["3...", ".3..", "..3.", "...3"];

function configFile(folder: string, preset: string): string {
  const draw = randomStream(1, "tasks");
  const lines = Array.from({ length: 40 }, (_, i) => {
    const solution = Array.from({ length: 4 }, () => "0123"[draw.integer(4)]).join("");
    return JSON.stringify({ prompt: String.fromCharCode(97 + (i % 26), 97 + Math.floor(i / 26)), solution });
  });
  writeFileSync(join(folder, "digits.jsonl"), lines.join("\n"));
  const terms = places.map(
    (pattern, i) => `    place${i}: { use: format, pattern: "${pattern}", weight: 0.25 }`,
  );
  const file = join(folder, "digits.gradus.yaml");
  writeFileSync(
    file,
    `extends: ${preset}
seed: 1
model: { base: tiny, width: 32, layers: 2, heads: 2, hidden: 64, context: 16 }
tasks: [{ dataset: ./digits.jsonl, prompt: "{prompt}", solution: "{solution}" }]
rollout: { prompts: 4, group: 8, max_tokens: 4 }
reward:
  terms:
${terms.join("\n")}
  success: { terms: [place0], at_least: 1 }
stages:
  - { name: warm-up, kind: sft, steps: ${warmUp}, batch: 16, update: { optimizer: { lr: 1.0e-2 } } }
  - { name: practice, steps: ${steps} }
update: { optimizer: { use: adamw, lr: 5.0e-3 } }
evaluation: { every: 1000, prompts: 1, pass_at: [1], record: 0 }
checkpoint: { every: 1000, keep: 1 }
`,
  );
  return file;
}

/** The share of threes in the rollouts of each practice step. */
async function practised(preset: string, set: readonly string[]): Promise<number[]> {
  const folder = mkdtempSync(join(tmpdir(), "gradus-learning-"));
  const run = testRun(set, configFile(folder, preset));
  try {
    assert.equal(await run.work(), 0, run.ending());
    return ofKind(run.records(), "metrics")
      .filter(({ step }) => step >= warmUp)
      .map(({ values }) => places.reduce((sum, _, i) => sum + Number(values[`reward/place${i}`]), 0) / 4);
  } finally {
    run.remove();
    rmSync(folder, { recursive: true, force: true });
  }
}

/** By how many standard errors the last ten steps' mean exceeds the first ten's. */
function gain(values: readonly number[]): number {
  const stats = (part: readonly number[]): [mean: number, error: number] => {
    const mean = part.reduce((a, b) => a + b, 0) / part.length;
    const square = part.reduce((sum, value) => sum + (value - mean) ** 2, 0) / (part.length - 1);
    return [mean, square / part.length];
  };
  const [[first, a], [last, b]] = [stats(values.slice(0, 10)), stats(values.slice(-10))];
  return (last - first) / Math.sqrt(a + b || Number.EPSILON);
}

/** Runs with every derivative that the policy's update is given turned round. */
async function flipped<Result>(work: () => Promise<Result>): Promise<Result> {
  const original = LossChain.prototype.weigh;
  LossChain.prototype.weigh = function (this: LossChain, update: Update, clock: Clock): Weigh {
    const weigh = original.call(this, update, clock);
    return (now, batch) => {
      const weighed = weigh(now, batch);
      const gradients = Object.fromEntries(
        Object.entries(weighed.gradients).map(([name, column]) => [name, column?.map((value) => -value)]),
      );
      return { ...weighed, gradients };
    };
  };
  try {
    return await work();
  } finally {
    LossChain.prototype.weigh = original;
  }
}

for (const [family, { preset, set = [] }] of some(Object.entries(families), 1)) {
  test(`${family}: ${preset} learns to write threes`, async () => {
    const values = await practised(preset, set);
    assert.equal(values.length, steps);
    assert.ok(gain(values) >= 4, `${gain(values)} standard errors: ${values.join(" ")}`);
  });
  test(`${family}: ${preset} does not with the gradient's sign flipped`, async () => {
    const values = await flipped(() => practised(preset, set));
    assert.ok(gain(values) < 4, `${gain(values)} standard errors: ${values.join(" ")}`);
  });
}
