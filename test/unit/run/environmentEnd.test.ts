/** An episode that runs out of turns is worth what its environment says of its end. */
import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { z } from "zod";
import { environment } from "../../../server/core/declaration.ts";
import { methods } from "../../../server/methods/index.ts";
import { ofKind, testRun } from "../../support/runFolder.ts";

/** Each step earns 0.25, and so does the end; the first turn that it is asked may end it. */
const endless = environment({
  name: "endless",
  summary: "For tests.",
  sources: [],
  params: z.object({ done: z.boolean().default(false) }),
  create: ({ done }) => ({
    open: async () => ({
      reset: async () => ({ messages: [] }),
      step: async () => ({ messages: [], reward: 0.25, done }),
      end: async () => ({ reward: 0.25, components: { ended: 1 } }),
      close: async () => undefined,
    }),
  }),
});
if (Array.isArray(methods)) methods.push(endless);

const text = (
  done: boolean,
): string => `model: { base: tiny, width: 16, layers: 1, heads: 2, hidden: 32, context: 64 }
tasks: [{ env: reverse_text, lengths: [2], play: { use: endless, done: ${done} } }]
rollout: { prompts: 2, group: 2, max_tokens: 3, shape: { use: environment, turns: 2 } }
curriculum: { admission: none }
reward: { terms: { played: environment } }
stages: [{ name: only, steps: 1 }]
evaluation: { every: 100, prompts: 1, pass_at: [1] }
`;

test("the end of an episode is asked once, where no step has ended it", async () => {
  const folder = mkdtempSync(join(tmpdir(), "gradus-end-"));
  try {
    for (const [done, wanted] of [
      [false, 0.75],
      [true, 0.25],
    ] as const) {
      const file = join(folder, "a.gradus.yaml");
      writeFileSync(file, text(done));
      const run = testRun([], file);
      try {
        assert.equal(await run.work(), 0, run.ending());
        const rows = ofKind(run.records(), "rollout");
        assert.ok(rows.length >= 4);
        for (const { row } of rows) assert.equal(row.rewards?.["played"], wanted);
      } finally {
        run.remove();
      }
    }
  } finally {
    rmSync(folder, { recursive: true });
  }
});
