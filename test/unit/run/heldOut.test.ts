/** The tasks that evaluation asks. */
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { contextOf } from "../../../server/algorithm/algorithm.ts";
import { randomStream } from "../../../server/lib/random.ts";
import { heldOut } from "../../../server/algorithm/curriculum/heldOut.ts";
import { evaluationTasks, readUnsolved } from "../../../server/algorithm/curriculum/evaluationTasks.ts";
import { configOf, temporary } from "../support.ts";

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

test("evaluations may ask only what another model did not solve", () => {
  const folder = temporary();
  const text = `tasks: [{ env: countdown, numbers: [2] }]
reward: { terms: { right: { use: equation } } }
evaluation: { prompts: 6, unsolved_by: base.json }
`;
  const list = join(folder, "base.json");
  assert.throws(() => readUnsolved(list), /list of unsolved tasks cannot be read/);
  writeFileSync(list, JSON.stringify({ unsolved_by: "base", samples: 8, tasks: ["one"] }));
  const config = configOf(text, folder);
  const context = contextOf(config.top, { random: randomStream(1, "methods") });
  const all = heldOut(config.top, context, 12).map(({ task }) => task.id);
  const unsolved = [all[3]!, all[7]!, all[11]!];
  writeFileSync(list, JSON.stringify({ unsolved_by: "base", samples: 8, tasks: unsolved }));
  assert.deepEqual(
    evaluationTasks(config, context)
      .map(({ task }) => task.id)
      .sort(),
    unsolved.toSorted(),
  );
  writeFileSync(list, JSON.stringify({ unsolved_by: "base", samples: 8, tasks: [] }));
  assert.throws(() => evaluationTasks(config, context), /tasks: /);
});
