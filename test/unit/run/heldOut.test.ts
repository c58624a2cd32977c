/** The tasks that evaluation asks. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { contextOf } from "../../../server/algorithm/algorithm.ts";
import { randomStream } from "../../../server/lib/random.ts";
import { heldOut } from "../../../server/algorithm/curriculum/heldOut.ts";
import { configOf } from "../support.ts";

test("held-out tasks need nothing of what a stage's curriculum knows of its own tasks", () => {
  const { top } = configOf(
    `tasks: [{ env: countdown, numbers: [3] }]
reward: { terms: { right: { use: equation } } }
curriculum: { arms: prompt, estimator: { use: static, by: field, field: score } }
`,
  );
  const context = contextOf(top, { random: randomStream(1, "methods") });
  const tasks = heldOut(top, context, 8);
  assert.equal(tasks.length, 8);
  assert.equal(new Set(tasks.map(({ task }) => task.id)).size, 8);
});
