/** A-LoL: a value is fitted, then logged answers train, drawn and weighed by what they have beyond it. */
import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { essence, ofKind, testRun, type TestRun } from "../../support/runFolder.ts";

const rewards = { ab: [1, 0.6, -5], cd: [0.9, 0.3, -4] } as const;
const values = 6;
const offline = 6;

function configFile(folder: string): string {
  const tasks = Object.keys(rewards).map((prompt) => JSON.stringify({ prompt, answer: prompt }));
  writeFileSync(join(folder, "tasks.jsonl"), tasks.join("\n"));
  const logged = Object.entries(rewards).flatMap(([prompt, list]) =>
    list.map((reward, index) =>
      JSON.stringify({ step: 0, group: prompt, index, prompt, response: "xyz"[index], reward }),
    ),
  );
  writeFileSync(join(folder, "log.jsonl"), logged.join("\n"));
  const file = join(folder, "offline.gradus.yaml");
  writeFileSync(
    file,
    `extends: a-lol
model: { base: tiny, width: 32, layers: 1, heads: 2, hidden: 48, context: 16 }
tasks: [{ dataset: ./tasks.jsonl, prompt: "{prompt}", answer: "{answer}" }]
rollout: { prompts: 4, max_tokens: 3 }
reward: { terms: { brief: { use: length, shape: linear } } }
replay: { use: file, path: log.jsonl }
update: { optimizer: { use: adamw, lr: 0.003 } }
stages:
  values: { steps: ${values} }
  offline: { steps: ${offline} }
evaluation: { every: 1000, prompts: 1, pass_at: [1], record: 0 }
checkpoint: { every: 3, keep: 9 }
`,
  );
  return file;
}

const replayed = (run: TestRun, step: number) =>
  ofKind(run.records(), "rollout").filter((one) => one.step === step && one.row.source === "replay");
const lead = (run: TestRun): Map<string, number> =>
  new Map(
    ofKind(run.records(), "rollout").flatMap(({ row }) =>
      row.source === "replay" ? [[`${row.prompt} ${row.response}`, Number(row.advantage)] as const] : [],
    ),
  );

test("values first, then answers that beat theirs, drawn by how much; a resumed run draws the same", async () => {
  const folder = mkdtempSync(join(tmpdir(), "gradus-offline-"));
  const run = testRun([], configFile(folder));
  try {
    assert.equal(await run.work(), 0, run.ending());
    const steps = ofKind(run.records(), "metrics").map((one) => one.values);
    assert.ok(steps.slice(0, values).every((one) => one["replay/rows"] === undefined));
    assert.ok(Number(steps[values - 1]!["value/error"]) < Number(steps[0]!["value/error"]));
    for (let step = values; step < values + offline; step++) {
      const rows = replayed(run, step);
      assert.equal(rows.length, 4, "as many as the step writes to measure itself");
      assert.ok(rows.every(({ row }) => Number(row.advantage) > 0));
    }
    assert.equal(steps[values]!["tokens/trained"], 8, "four logged answers of a letter and an end");
    const leads = lead(run);
    assert.ok(leads.size >= 2);
    for (const [prompt, list] of Object.entries(rewards)) {
      assert.ok(!leads.has(`${prompt} z`), "the worst answer is never drawn");
      const own = list.flatMap((reward, index) => {
        const found = leads.get(`${prompt} ${"xyz"[index]!}`);
        return found === undefined ? [] : [reward - found];
      });
      // One value for all answers to a prompt, whatever step drew them: the policy has moved, it has not.
      assert.ok(own.every((value) => Math.abs(value - own[0]!) < 1e-9));
    }
    const whole = run.records();
    rmSync(join(run.folder, "checkpoints", String(values + offline - 1)), { recursive: true });
    assert.equal(await run.work(1), 0, run.ending(1));
    assert.deepEqual(essence(run.records(1), values + 3), essence(whole, values + 3));
  } finally {
    run.remove();
    rmSync(folder, { recursive: true, force: true });
  }
});
