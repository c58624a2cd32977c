/** A run whose folder is removed while it is live: its worker ends, and makes nothing anew. */
import assert from "node:assert/strict";
import { existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { work } from "../../../server/run/loop/worker.ts";
import { until } from "../../support/until.ts";
import { needs } from "../../support/system.ts";

const config = `name: mini
model: { base: tiny, width: 16, layers: 1, heads: 1, hidden: 16, context: 32 }
tasks: [{ env: reverse_text, lengths: [2] }]
rollout: { prompts: 2, group: 2, max_tokens: 4 }
reward: { terms: { correct: exact_match } }
update: { optimizer: { use: adamw, lr: 1.0e-3 } }
steps: 1000000
checkpoint: { every: 1, keep: 2 }
seed: 1
`;

test(
  "it ends at its next look, and neither its log nor a checkpoint brings the folder back",
  needs.openRemoval,
  async () => {
    const base = realpathSync(mkdtempSync(join(tmpdir(), "gradus-removed-")));
    const [file, run] = [join(base, "mini.gradus.yaml"), join(base, ".gradus", "runs", "one")];
    mkdirSync(run, { recursive: true });
    writeFileSync(file, config);
    const about = { id: "one", file, name: "one", set: [], createdAt: "2026-01-01T00:00:00Z" };
    writeFileSync(join(run, "run.json"), JSON.stringify(about));
    try {
      const ended = work({ folder: run, attempt: 0, version: "0.0.0" });
      await until(() => existsSync(join(run, "checkpoints", "2")), "a checkpoint");
      rmSync(run, { recursive: true, maxRetries: 10 });
      assert.equal(await ended, 1);
      assert.ok(!existsSync(run));
    } finally {
      rmSync(base, { recursive: true, force: true });
    }
  },
);
