/** What leaves a run: models that other programs load, and a page to read. */
import assert from "node:assert/strict";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { exportModel } from "../../../server/cli/runs/exporting/exportModel.ts";
import { reportText, type Report } from "../../../server/cli/runs/reportRun.ts";
import { openBase, readWeights } from "../../../server/engine/formats/index.ts";
import { readPeft } from "../../../server/engine/formats/peft.ts";
import { largestDifference, open, stir, tinyModel } from "../engine/support.ts";

const temporary = (): string => mkdtempSync(join(tmpdir(), "gradus-export-"));

test("a checkpoint leaves as a Hugging Face folder and as GGUF with the same weights, and nothing is overwritten", async () => {
  const folder = temporary();
  const policy = await open();
  try {
    stir(policy);
    const from = join(folder, "run", "checkpoints", "7");
    await policy.save(join(from, "policy"));
    const [hf, gguf] = [join(folder, "out", "hf"), join(folder, "out", "model.gguf")];
    exportModel(from, { to: "hf", out: hf, json: true });
    exportModel(from, { to: "gguf", out: gguf, json: true });
    const weights = policy.readWeights();
    for (const [path, tolerance] of [
      [hf, 0],
      [gguf, 2e-3],
    ] as const) {
      const read = readWeights(openBase(path));
      assert.deepEqual(Object.keys(read).sort(), Object.keys(weights).sort());
      for (const [name, values] of Object.entries(weights))
        assert.ok(largestDifference(read[name]!, values) <= tolerance, `${path} ${name}`);
    }
    assert.equal(openBase(hf).kind, "huggingface", "no checkpoint of ours any more");
    assert.deepEqual(readdirSync(join(folder, "out")).sort(), ["hf", "model.gguf"], "no draft is left");
    assert.throws(() => exportModel(from, { to: "hf", out: hf }), /exists already/);
    assert.throws(
      () => exportModel(from, { to: "peft", out: join(folder, "out", "peft") }),
      /has no adapter/,
    );
    assert.throws(() => exportModel(from, { to: "gguf", out: undefined }), /needs --out/);
    assert.ok(!existsSync(join(folder, "out", "peft")));
    mkdirSync(join(folder, "empty"));
    exportModel(from, { to: "hf", out: join(folder, "empty"), json: true });
  } finally {
    policy.close();
    rmSync(folder, { recursive: true });
  }
});

test("an adapter leaves as PEFT's folder, or merged", async () => {
  const folder = temporary();
  const policy = await open({
    model: { ...tinyModel(), adapter: { rank: 2, alpha: 4, targets: ["q", "down"], dropout: 0 } },
  });
  try {
    const trained = policy.readTrained();
    policy.writeWeights(
      Object.fromEntries(
        Object.entries(trained).map(([name, values]) => [
          name,
          values.map((value, i) => value + 0.01 * (i % 7)),
        ]),
      ),
    );
    await policy.save(join(folder, "policy"));
    exportModel(join(folder, "policy"), { to: "peft", out: join(folder, "adapter"), json: true });
    const { weights } = readPeft(join(folder, "adapter"), policy.shape);
    for (const [name, values] of Object.entries(policy.readTrained()))
      assert.equal(largestDifference(weights[name]!, values), 0, name);
    exportModel(join(folder, "policy"), { to: "hf", out: join(folder, "merged"), json: true });
    const merged = readWeights(openBase(join(folder, "merged")));
    for (const [name, values] of Object.entries(policy.readWeights()))
      assert.ok(largestDifference(merged[name]!, values) < 1e-7, name);
  } finally {
    policy.close();
    rmSync(folder, { recursive: true });
  }
});

test("the report has the measures before and after, the answers, the course and the config", () => {
  const row = { step: 0, group: "t", index: 0, prompt: "2 | 3", response: "`5`\n", reward: 0.25 };
  const report: Report = {
    run: {
      id: "demo-1",
      name: "demo",
      file: "/x/demo.gradus.yaml",
      status: "finished",
      message: null,
      attempt: 0,
      step: 9,
      steps: 10,
      stage: "rl",
      startedAt: "2026-01-01T00:00:00Z",
      endedAt: "2026-01-01T00:02:05Z",
      backend: "native",
      headline: {},
      first: null,
      last: null,
      folder: "/x",
      authored: "name: demo\n# ```\n",
      config: { seed: 3 },
      git: null,
      checkpoints: [],
      attempts: [],
      stages: [],
      backendReason: null,
    },
    set: ["seed=3"],
    evaluations: [
      { step: -1, role: "first", metrics: { "eval/greedy": 0.25 } },
      { step: 9, role: "last", metrics: { "eval/greedy": 0.75, "eval/pass@1": 0.5 } },
    ],
    series: [{ metric: "reward/total", steps: [0, 1, 2], values: [0.1, null, 0.9], total: 3 }],
    events: [
      { step: 1, severity: "info", message: "nothing of interest" },
      { step: 4, severity: "warning", message: "few tasks" },
    ],
    before: [row],
    after: [{ ...row, step: 9, response: "six", reward: 1 }],
  };
  const text = reportText(report);
  assert.match(text, /^# demo\n\ndemo-1: finished, 10 of 10 steps in 2 min 05 s, seed 3, on native\./);
  assert.match(text, /\| `eval\/greedy` \| 0\.25 \| 0\.75 \| \+0\.5 \| ▁█ \|/);
  assert.match(text, /\| `eval\/pass@1` \| {2}\| 0\.5 \| {2}\|/);
  assert.match(text, /\| 2 \\\| 3 \| `'5'⏎ ` \(0\.25\) \| `six ` \(1\) \|/);
  assert.match(text, /\| `reward\/total` \| 0\.1 \| 0\.9 \| 0\.1 \| 0\.9 \| ▁ █ \|/);
  assert.match(text, /- step 4, warning: few tasks/);
  assert.doesNotMatch(text, /nothing of interest/);
  assert.match(text, /With `seed=3`\.\n\n````yaml\nname: demo\n# ```\n````\n$/);
});
