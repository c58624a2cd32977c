/** Presets of the papers after the list in real runs of a few steps: each does what it is about. */
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { ofKind, testRun } from "../../support/runFolder.ts";
import { some } from "../../support/thorough.ts";
import { temporary } from "../support.ts";

const prompts = "curriculum.arms={ use: prompt, pool: 24 }";
const alone = "rollout={ prompts: 16, group: 1, max_tokens: 4 }";

interface Small {
  readonly set?: readonly string[];
  /** A metric that is not 0 where the preset acts. */
  readonly acts: string;
}
const presets: Readonly<Record<string, Small>> = {
  "scale-rl": { set: [prompts], acts: "update/ess" },
  m2po: { set: ["update.epochs=3", "update.optimizer.lr=0.01"], acts: "update/second_moment" },
  sdpg: { set: ["curriculum.admission.refill=none"], acts: "policy/kl/teacher@solution" },
  opsd: { set: [alone], acts: "policy/kl/reference@solution" },
  rlsd: { acts: "update/ess" },
  rlcsd: { acts: "update/ess" },
  "async-opd": {
    set: [
      "models.teacher={ base: tiny, width: 8, layers: 1, heads: 2, hidden: 8, context: 512 }",
      "kl.0.model=teacher",
    ],
    acts: "policy/kl/teacher",
  },
  bots: { set: [prompts], acts: "update/ess" },
  ngu: { acts: "update/ess" },
  sao: { set: [alone], acts: "value/loss" },
};

const small = [
  "steps=3",
  "model.base=tiny",
  "model.width=16",
  "model.layers=1",
  "model.heads=2",
  "model.hidden=32",
  "model.context=512",
  "rollout={ prompts: 8, group: 4, max_tokens: 4 }",
  "evaluation={ every: 9, prompts: 2, pass_at: [1] }",
];

for (const [preset, { set = [], acts }] of some(Object.entries(presets), 4))
  test(`${preset} trains, and acts`, async () => {
    const folder = temporary();
    const file = join(folder, "run.gradus.yaml");
    // About half of what an untrained model writes.
    writeFileSync(
      join(folder, "even.ts"),
      "export const score = ({ response }: { response: string }): number => (response.charCodeAt(0) || 1) % 2;",
    );
    const lines = Array.from({ length: 24 }, (_, i) => ({
      prompt: `${i} + 1 =`,
      answer: `${i + 1}`,
      solution: `${i + 1}`,
    }));
    writeFileSync(join(folder, "sums.jsonl"), lines.map((line) => JSON.stringify(line)).join("\n"));
    writeFileSync(
      file,
      `extends: ${preset}\ntasks: [{ dataset: sums.jsonl, prompt: "{prompt}", answer: "{answer}", solution: "{solution}" }]\nreward: { terms: { even: ./even.ts } }\n`,
    );
    const run = testRun([...small, ...set], file);
    try {
      assert.equal(await run.work(), 0, run.ending());
      const steps = ofKind(run.records(), "metrics");
      assert.ok(steps.length >= 3);
      const told = steps.map(({ values }) => values[acts]);
      assert.ok(
        told.some((value) => typeof value === "number" && value > 0),
        `${acts}: ${told.join(", ")}`,
      );
    } finally {
      run.remove();
    }
  });
