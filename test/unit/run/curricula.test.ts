/** Presets of curricula in real runs of a few steps: the parts find each other. */
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { ofKind, testRun } from "../../support/runFolder.ts";
import { temporary } from "../support.ts";
import { some } from "../../support/thorough.ts";

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
  tscl: [],
  "rif-rft": [],
  "rlpr-filter": [],
  "codev-r1": [],
  "vla-rl": [],
  "eva-sampling": [prompts],
  "sec-released": [],
  "self-repellent": [],
  "restarted-posterior": [],
  "pooled-prior": [prompts],
  "verified-prerequisites": ['curriculum.sampler.requires={ "countdown/4": [countdown/3] }'],
  guru: [prompts, "curriculum.estimator.samples=2"],
  "step-tiers": [prompts],
  "mm-eureka": [],
  "hint-writer": [],
  "privileged-help": ["guidance.source={ use: hint, model: reference }"],
};

const small = [
  "steps=3",
  "model={ base: tiny, width: 16, layers: 1, heads: 2, hidden: 32, context: 64 }",
  "rollout={ prompts: 8, group: 4, max_tokens: 4 }",
  "evaluation={ every: 9, prompts: 2, pass_at: [1] }",
];

for (const [preset, own] of some(Object.entries(presets), 3))
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

test("a look at many arms before the first draw is reported while it goes on", async () => {
  const folder = temporary();
  const file = join(folder, "run.gradus.yaml");
  writeFileSync(
    file,
    "extends: sari\ntasks: [{ env: countdown }]\nreward: { terms: { correct: equation } }\ncurriculum: { arms: { use: prompt, pool: 64 } }\n",
  );
  const run = testRun([...small, "steps=1"], file);
  try {
    assert.equal(await run.work(), 0, run.ending());
    const records = run.records();
    const told = records.findIndex((record) => record.kind === "event" && record.name === "trying-arms");
    const [event] = ofKind(records.slice(told), "event");
    assert.match(event?.message ?? "", /8 pilot rollouts of each of 64\./);
    const first = records.findIndex((record) => record.kind === "metrics" && record.step === 0);
    assert.ok(told >= 0 && told < first);
  } finally {
    run.remove();
  }
});
