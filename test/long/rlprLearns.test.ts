/** RLPR: where the answer follows from what is thought before it, the policy learns to think what makes its answer likely. */
import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { mean } from "../../shared/lib/mean.ts";
import { ofKind, testRun } from "../support/runFolder.ts";

const letters = ["a", "b", "c", "d"];
const lines = (rows: readonly object[]): string => rows.map((row) => JSON.stringify(row)).join("\n");
/** Taught first: the answer repeats the thought, and the thought has nothing to do with the prompt. */
const thoughts = letters.flatMap((asked) =>
  letters.map((thought) => ({ prompt: `${asked}=`, solution: `${thought}<answer> ${thought}</answer>` })),
);
const asked = letters.map((letter) => ({ prompt: `${letter}=`, answer: letter }));

/** With this seed the supervised stage teaches the tiny model to repeat its thought; else no thought would be worth more than another. */
const text = `extends: rlpr
seed: 2
model: { base: tiny, width: 32, layers: 2, heads: 2, hidden: 64, context: 96 }
tasks: [{ name: asked, dataset: asked.jsonl, prompt: "{prompt}", answer: "{answer}" }]
rollout: { prompts: 4, group: 8, max_tokens: 24, chat: false }
reward: { terms: { probability: { tags: [answer], without: none }, form: { tags: [answer], weight: 0.1 } } }
update: { optimizer: { use: adamw, lr: 0.003 } }
stages:
  - name: form
    kind: sft
    steps: 700
    batch: 16
    tasks: [{ dataset: thoughts.jsonl, prompt: "{prompt}", solution: "{solution}" }]
  - { name: rlpr, steps: 60, update: { optimizer: { lr: 0.0003 } } }
evaluation: { every: 1000, prompts: 1, pass_at: [1], record: 0 }
`;

test("rlpr: the probability of the answer rises by 0.2 in 60 steps", async (t) => {
  const folder = mkdtempSync(join(tmpdir(), "gradus-rlpr-"));
  const file = join(folder, "a.gradus.yaml");
  writeFileSync(join(folder, "asked.jsonl"), lines(asked));
  writeFileSync(join(folder, "thoughts.jsonl"), lines(thoughts));
  writeFileSync(file, text);
  const run = testRun([], file);
  try {
    assert.equal(await run.work(), 0, run.ending());
    const paid = ofKind(run.records(), "metrics").flatMap(({ values }) => values["reward/probability"] ?? []);
    const [before, after] = [paid.slice(0, 5), paid.slice(-5)].map((some) => mean(some.map(Number)));
    t.diagnostic(`${before} → ${after}`);
    assert.ok(after! > before! + 0.2, `${before} → ${after}`);
  } finally {
    run.remove();
    rmSync(folder, { recursive: true });
  }
});
