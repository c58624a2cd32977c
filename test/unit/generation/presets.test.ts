/** What presets of task generation choose, in numbers. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { Curriculum, contextOf, openSources } from "../../../server/algorithm.ts";
import { GeneratedTasks } from "../../../server/generation/generatedTasks.ts";
import { randomStream } from "../../../server/random.ts";
import { clock } from "../curriculum/support.ts";
import { configOf, near } from "../support.ts";

const curriculumOf = (preset: string, reward = "right: equation"): Curriculum => {
  const { top } = configOf(`extends: ${preset}\nreward: { terms: { ${reward} } }\n`);
  const context = contextOf(top, { random: randomStream(1, preset) });
  return new Curriculum(top.curriculum, openSources(top.tasks, context), context);
};

test("Critique-Coder: a fifth of what is drawn are critiques", () => {
  const paid = "right: { use: equation, tasks: [countdown] }, verdict: { use: verdict, tasks: [critique] }";
  const curriculum = curriculumOf("critique-coder", paid);
  const [own, critiques] = curriculum.probabilities(clock);
  assert.ok(near(own!, 0.8) && near(critiques!, 0.2));
  assert.equal(curriculum.arms.name(1), "critique");
});

test("EnvGen: made tasks are arms of the difficulties that the original ones have", () => {
  const { arms } = curriculumOf("envgen");
  const names = Array.from({ length: arms.size }, (_, arm) => arms.name(arm));
  const made = names.filter((name) => name.startsWith("generated/"));
  assert.deepEqual(made, ["generated/3", "generated/4", "generated/5"]);
});

test("SwS: two weak tasks, alike at a temperature of 0.2, by the failure ratio of their kinds; a band of 1/8 to 7/8", () => {
  const { top } = configOf("extends: sws\nreward: { terms: { right: equation } }\n");
  const { generate } = top.tasks[1]!;
  assert.deepEqual(generate?.transform.params["similarity"], { temperature: 0.2 });
  assert.equal(generate.selector.params["budget"], "failure_ratio");
  const band = generate.gates.at(-1)?.params;
  assert.deepEqual([band?.["low"], band?.["high"]], [1 / 8, 7 / 8]);
  const [, made] = openSources(top.tasks, contextOf(top, { random: randomStream(1) }));
  assert.ok(made?.source instanceof GeneratedTasks);
});
