/** What presets of task generation choose, in numbers. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { contextOf } from "../../../../server/algorithm/algorithm.ts";
import { Curriculum } from "../../../../server/algorithm/curriculum/curriculum.ts";
import { create } from "../../../../server/core/create.ts";
import { openSources } from "../../../../server/algorithm/curriculum/openSources.ts";
import { GeneratedTasks } from "../../../../server/methods/generation/generatedTasks.ts";
import { majority } from "../../../../server/methods/generation/majority.ts";
import type { Candidate } from "../../../../server/core/slots/generation.ts";
import { randomStream } from "../../../../server/lib/random.ts";
import { clock, group, task } from "../curriculum/support.ts";
import { configOf, near } from "../../support.ts";

const child: Candidate = { task, parent: task, tried: undefined, read: undefined };

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

test("SwS: concepts at 0.2 by the base model's states, kinds by failure ratio; a second run from the base model in the band", () => {
  const config = configOf("extends: sws\nreward: { terms: { right: equation } }\n");
  const { top, stages } = config;
  const { generate } = top.tasks[1]!;
  assert.equal(generate?.selector.params["budget"], "failure_ratio");
  const context = contextOf(top, { random: randomStream(1) });
  const { concepts, take } = create(generate.transform, context);
  assert.equal(concepts?.size, 5);
  assert.deepEqual(concepts.near, {
    measure: { by: "embedding", model: "reference", pooling: "last" },
    temperature: 0.2,
  });
  assert.equal(concepts.levels.length, 8);
  assert.equal(take?.first("Plan.\n```text\nHow many?\nAnd why?\n```")?.[1], "How many?\nAnd why?\n");
  const answer = create(generate.answer, context);
  assert.ok(answer.kind === "vote");
  const attempts = [String.raw`So \boxed{\frac{1}{2}}.`, String.raw`\boxed{\frac{1}{2}}`, "none", "7"];
  assert.equal(majority(attempts, answer), String.raw`\frac{1}{2}`);
  const [proofs, strict, mild, band] = generate.gates.map((gate) => create(gate, context));
  const said = (text: string) =>
    [strict!, mild!].map((gate) => gate.admit({ ...child, said: [text] }).admitted);
  assert.deepEqual(["Fine.\nVerdict: perfect", "So so.\n**Verdict:** acceptable", "Verdict: bad"].map(said), [
    [true, true],
    [false, true],
    [false, false],
  ]);
  const proof = { ...child, task: { ...task, prompt: "Prove that 2 > 1." } };
  assert.equal(proofs!.admit(proof).admitted, false);
  const rates = [0, 1, 7, 8].map((n) => group(Array.from({ length: 8 }, (_, i) => Number(i < n))));
  assert.deepEqual(
    rates.map((tried) => band!.admit({ ...child, tried }).admitted),
    [false, true, true, false],
  );
  const [initial, augmented] = stages;
  assert.equal(generate.rounds, 1);
  assert.equal(initial!.steps, generate.first! + 1, "before its last step");
  assert.deepEqual(augmented!.on_enter.merge, [{ source: { kind: "model", name: "reference" }, weight: 1 }]);
  const { params } = augmented!.body.curriculum.admission;
  assert.deepEqual({ low: params["low"], high: params["high"] }, { low: 1 / 8, high: 7 / 8 });
  const [, made] = openSources(top.tasks, context);
  assert.ok(made?.source instanceof GeneratedTasks);
});
