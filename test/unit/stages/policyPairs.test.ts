/** A reward model that learns who wrote an answer: of a model that can do the task and one that cannot. */
import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { loadConfig } from "../../../server/rules/load.ts";
import { ofKind, testRun } from "../../support/runFolder.ts";
import { inLong } from "../../support/thorough.ts";

const text = `name: discriminate
model: { base: tiny, width: 32, layers: 1, heads: 2, hidden: 64, context: 64 }
models:
  rm: { base: tiny, width: 64, layers: 2, heads: 2, hidden: 128, context: 64, trains: true, value_heads: [reward], optimizer: { use: adamw, lr: 3.0e-3 } }
  untrained: { base: tiny, width: 32, layers: 1, heads: 2, hidden: 64, context: 64 }
tasks: [{ env: reverse_text, lengths: [2] }]
rollout: { prompts: 4, group: 4, max_tokens: 6 }
reward: { terms: { correct: { use: exact_match }, like: { use: reward_model, model: rm, update: frozen, given: reference } } }
update: { optimizer: { use: adamw, lr: 3.0e-3 } }
stages:
  - { name: warm-up, kind: sft, steps: 60, batch: 16 }
  - { name: discriminate, kind: reward_model, trains: rm, pairs: { policies: [policy, untrained] }, batch: 32, steps: 140 }
  - { name: practice, steps: 2 }
evaluation: { every: 1, prompts: 8 }
`;

inLong(
  "it tells a trained policy from an untrained one, and rewards rollouts beside their reference",
  async () => {
    const folder = mkdtempSync(join(tmpdir(), "gradus-policies-"));
    const file = join(folder, "discriminate.gradus.yaml");
    writeFileSync(file, text);
    const run = testRun([], file);
    try {
      assert.equal(await run.work(), 0, run.ending());
      const steps = ofKind(run.records(), "metrics").map(({ values }) => values);
      const accuracies = steps
        .flatMap((metrics) => metrics["learner/rm/update/pair_accuracy"] ?? [])
        .map(Number);
      assert.equal(accuracies.length, 140);
      const last = accuracies.slice(-10).reduce((sum, one) => sum + one, 0) / 10;
      assert.ok(last > 0.8, accuracies.join(" "));
      const paid = steps.flatMap((metrics) => metrics["reward/like"] ?? []);
      assert.equal(paid.length, 2);
      assert.ok(paid.every((value) => Number.isFinite(value)));
    } finally {
      run.remove();
      rmSync(folder, { recursive: true });
    }
  },
);

test("policies that are not there, that come twice, or that a preference stage names are reported", () => {
  const messages = (from: string, to: string): string[] =>
    loadConfig("policies.gradus.yaml", { text: text.replace(from, to) }).diagnostics.map(
      ({ message }) => message,
    );
  assert.deepEqual(messages("", ""), []);
  assert.match(
    messages("[policy, untrained] }", "[policy, nobody] }").join(),
    /no model `nobody` to write answers/,
  );
  assert.match(messages("[policy, untrained] }", "[untrained, untrained] }").join(), /named twice/);
  assert.match(
    messages("kind: reward_model, trains: rm,", "kind: preference,").join(),
    /learns nothing from who wrote an answer/,
  );
});
