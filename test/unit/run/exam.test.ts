/** The exam: held-out tasks by a seed of their own, and that of runs that began before there was one. */
import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { evaluationTasks } from "../../../server/algorithm/curriculum/evaluationTasks.ts";
import { contextOf } from "../../../server/algorithm/algorithm.ts";
import { randomStream } from "../../../server/lib/random.ts";
import { loadConfig } from "../../../server/rules/load.ts";
import { readRunFile, storedConfig } from "../../../server/run/loop/files.ts";
import { withExam } from "../../../server/run/loop/keptExam.ts";

const folder = mkdtempSync(join(tmpdir(), "gradus-exam-"));
after(() => rmSync(folder, { recursive: true, force: true }));
const rows = Array.from({ length: 400 }, (_, i) => JSON.stringify({ prompt: `${i}+1=`, answer: `${i + 1}` }));
writeFileSync(join(folder, "data.jsonl"), rows.join("\n"));

const sources = {
  "made up": "{ env: countdown, numbers: [3, 4] }",
  "from a file": '{ dataset: data.jsonl, answer: "{answer}" }',
};

/** Ids of an exam, as a run of the config asks them. */
function asked(tasks: string, more: string): readonly string[] {
  const text = `tasks: [${tasks}]\nreward: { terms: { right: numeric } }\n${more}`;
  const { config } = loadConfig(join(folder, "a.gradus.yaml"), { text });
  assert.ok(config);
  const context = contextOf(config.top, { random: randomStream(config.seed, "methods") });
  return evaluationTasks(config, context).map(({ task }) => task.id);
}

for (const [what, tasks] of Object.entries(sources))
  test(`runs of several seeds are asked the same tasks ${what}, and others by another evaluation.seed`, () => {
    const evaluation = "evaluation: { prompts: 20 }\n";
    const first = asked(tasks, `seed: 1\n${evaluation}`);
    assert.deepEqual(asked(tasks, `seed: 2\n${evaluation}`), first);
    const other = asked(tasks, "seed: 1\nevaluation: { prompts: 20, seed: 5 }\n");
    assert.notDeepEqual(other, first);
    assert.deepEqual(asked(tasks, "seed: 3\nevaluation: { prompts: 20, seed: 5 }\n"), other);
  });

test("a run that began without the key keeps its exam, and nothing of its config counts as changed", () => {
  const authored =
    "seed: 7\ntasks: [{ env: countdown, numbers: [3] }]\nreward: { terms: { right: equation } }\n";
  const run = { id: "a", file: join(folder, "a.gradus.yaml"), name: "a", set: [], createdAt: "2026-01-01" };
  const own = mkdtempSync(join(folder, "run-"));
  writeFileSync(join(own, "run.json"), JSON.stringify(run));
  writeFileSync(join(own, "authored.gradus.yaml"), authored);
  const { tree } = loadConfig(run.file, { text: authored });
  const { seed: _, ...before } = tree["evaluation"] as Record<string, never>;
  writeFileSync(join(own, "resolved.json"), JSON.stringify({ ...tree, evaluation: before }));
  const { config, changed } = storedConfig(own, readRunFile(own));
  assert.equal(config?.evaluation.seed, 7);
  assert.equal(changed, false);
  // One that began with it has what it was written with.
  writeFileSync(join(own, "resolved.json"), JSON.stringify(tree));
  assert.equal(storedConfig(own, readRunFile(own)).config?.evaluation.seed, 0);
  assert.equal(withExam(tree), tree);
});
