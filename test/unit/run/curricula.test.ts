/** Presets of curricula in real runs of a few steps: the parts find each other. */
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { ofKind, testRun } from "../../support/runFolder.ts";
import { temporary } from "../support.ts";

const prompts = "curriculum.arms={ use: prompt, pool: 24 }";

/** What a preset needs to be small. */
const presets: Readonly<Record<string, readonly string[]>> = {
  dump: [],
  mopps: [prompts],
  "mopps-threshold": [prompts],
  pcl: [prompts],
  "pcl-value-model": [
    prompts,
    "models.value={ base: tiny, width: 16, layers: 1, heads: 2, hidden: 32, context: 64 }",
  ],
  cures: [prompts],
  adcl: [prompts, "curriculum.estimator.samples=2"],
  sari: [prompts, "curriculum.estimator.samples=2"],
  "alp-gmm": ["curriculum.sampler.fit_every=20", "tasks=[{ env: reverse_text }]"],
  again: [
    "curriculum.arms.box={ length: [1, 24] }",
    "curriculum.sampler.fit_every=20",
    "curriculum.sampler.probe_every=20",
    "curriculum.sampler.probe_points=4",
    "tasks=[{ env: reverse_text }]",
  ],
  self: [],
  rlcs: [prompts],
  "rif-rft": [],
  "rlpr-filter": [],
  "codev-r1": [],
  "vla-rl": [],
  "eva-sampling": [prompts],
};

const small = [
  "steps=3",
  "model={ base: tiny, width: 16, layers: 1, heads: 2, hidden: 32, context: 64 }",
  "rollout={ prompts: 8, group: 4, max_tokens: 4 }",
  "evaluation={ every: 9, prompts: 2, pass_at: [1] }",
];

for (const [preset, own] of Object.entries(presets))
  test(`${preset} trains`, async () => {
    const folder = temporary();
    const file = join(folder, "run.gradus.yaml");
    // About half of what an untrained model writes.
    writeFileSync(
      join(folder, "even.ts"),
      "export const score = ({ response }: { response: string }): number => (response.charCodeAt(0) || 1) % 2;",
    );
    writeFileSync(
      file,
      `extends: ${preset}\ntasks: [{ env: countdown }, { env: countdown, name: more, numbers: [2] }]\nreward: { terms: { even: ./even.ts } }\n`,
    );
    const run = testRun([...small, ...own], file);
    try {
      assert.equal(await run.work(), 0, run.ending());
      const steps = ofKind(run.records(), "metrics");
      assert.ok(steps.length >= 3);
    } finally {
      run.remove();
    }
  });
