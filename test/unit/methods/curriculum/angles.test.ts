/** GAIN-RL's angles as a curriculum has them: whose they are, when they are taken, and what comes back after a resume. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { contextOf } from "../../../../server/algorithm/algorithm.ts";
import { Curriculum } from "../../../../server/algorithm/curriculum/curriculum.ts";
import { openSources } from "../../../../server/algorithm/curriculum/openSources.ts";
import { angleConcentration } from "../../../../server/methods/curriculum/estimators/angleConcentration.ts";
import { questionIn } from "../../../../server/methods/curriculum/estimators/question.ts";
import { NamedArms } from "../../../../server/methods/curriculum/armSet.ts";
import type { ArmSet } from "../../../../server/core/slots/arms.ts";
import { randomStream } from "../../../../server/lib/random.ts";
import type { Questioned } from "../../../../server/core/states.ts";
import type { Task } from "../../../../server/core/task.ts";
import type { Models, Tokenizer } from "../../../../server/core/policy.ts";
import { loadConfig } from "../../../../server/rules/load.ts";
import { openModels } from "../../../../server/run/models/models.ts";
import { FakeModels, fakeTokenizer } from "../../../support/fakePolicy.ts";
import { minimal } from "../../../support/runFolder.ts";
import { configOf, made, near } from "../../support.ts";
import { at, clock, group, task } from "./support.ts";

const text = (prompt: string, { tokens, from, to }: Questioned): void =>
  assert.equal(fakeTokenizer.decode(tokens.subarray(from, to)), prompt);

test("the question is the person's: not the system message, not the template's words", () => {
  const chat: Tokenizer["chat"] = (messages) =>
    `${messages.map(({ role, content }) => `(${role})${content.trim()}`).join("")}(assistant)`;
  const chatting: Tokenizer = { ...fakeTokenizer, chat: (messages) => chat(messages) };
  const asked = questionIn(chatting, " 1+2= ", { system: "add 1+2= and so on" });
  text("1+2=", asked);
  assert.equal(fakeTokenizer.decode(asked.tokens.subarray(asked.to)), "(assistant)");
  text("a", questionIn(chatting, "a"));
  const plain = questionIn({ ...chatting, prefix: [7] }, "1+2=", { chat: false });
  text("1+2=", plain);
  assert.equal(plain.from, 1);
  assert.equal(questionIn(fakeTokenizer, "1+2=").from, 0);
  const empty = questionIn(chatting, "");
  assert.ok(empty.from <= empty.to && empty.to <= empty.tokens.length);
});

const prompts = ["1+1=", "abcabc", "zzzz", "9 8 7 6", "(a)(b)"];
const armsOf = (texts: readonly string[]): ArmSet =>
  Object.assign(new NamedArms(texts), {
    task: (arm: number): Task => ({ ...task, id: String(arm), prompt: texts[arm]! }),
  });
const candidates = (arms: ArmSet, ...of: readonly number[]) =>
  of.map((arm) => ({ arm, task: arms.task!(arm) }));
const models = (): FakeModels => new FakeModels({ seed: 4 });

test("an arm's angle is that of its prompt, w times the second kind added, and is taken once", async () => {
  const fake = models();
  const prefixed: Models = {
    names: ["policy"],
    perceptron: () => fake.perceptron("none"),
    get: (name) => Object.assign(fake.get(name), { tokenizer: { ...fakeTokenizer, prefix: [3, 20] } }),
  };
  const estimator = made(angleConcentration, { inter_weight: 8 }, { models: prefixed });
  const arms = armsOf(prompts);
  assert.deepEqual(await estimator.model!.predictNew!(arms), [0, 1, 2, 3, 4]);
  const { intra, inter } = await fake
    .get("policy")
    .angles(prompts.map((prompt) => questionIn({ ...fakeTokenizer, prefix: [3, 20] }, prompt)));
  assert.ok(inter.every((value) => value !== 0));
  prompts.forEach((_, arm) => assert.ok(near(estimator.estimate(arm), intra[arm]! + 8 * inter[arm]!)));
  assert.ok(near(intra[2], 1), "four tokens alike have one direction");
  assert.deepEqual(await estimator.model!.predictNew!(arms), []);
  assert.deepEqual(
    await estimator.model!.predictNew!(armsOf([...prompts, "new"])),
    [5],
    "those that appear since",
  );
  const copy = made(angleConcentration, { inter_weight: 8 });
  copy.load(estimator.save());
  assert.deepEqual(
    await copy.model!.predictNew!(armsOf([...prompts, "new"])),
    [],
    "nothing is looked at again",
  );
  assert.equal(copy.estimate(3), estimator.estimate(3));
});

test("weights move, and with them the angles of what is drawn, not the order", async () => {
  const fake = models();
  const estimator = made(angleConcentration, {}, { models: fake });
  const arms = armsOf(prompts);
  await estimator.model!.predictNew!(arms);
  await estimator.model!.predictDrawn!(candidates(arms, 0, 1), clock);
  assert.equal(estimator.model!.current!(1), estimator.estimate(1));
  const { logits } = fake.of("policy");
  logits.forEach((_, i) => (logits[i]! += i % 3));
  const before = estimator.estimate(1);
  await estimator.model!.predictDrawn!(candidates(arms, 1, 3), at(1));
  await estimator.model!.predictDrawn!(candidates(arms, 4), at(1));
  assert.equal(estimator.estimate(1), before);
  assert.ok(Math.abs(estimator.model!.current!(1)! - before) > 1e-3);
  assert.notEqual(estimator.model!.current!(4), undefined, "a step draws more than once");
  assert.equal(estimator.model!.current!(0), undefined, "of the step before");
});

test("what cannot be looked at is named", async () => {
  const arms = armsOf(prompts);
  await assert.rejects(made(angleConcentration, {}).model!.predictNew!(arms), /there is no model/);
  const fake = models();
  await assert.rejects(
    made(angleConcentration, {}, { models: fake }).model!.predictNew!(new NamedArms(["a"])),
    /arms are not prompts/,
  );
  await assert.rejects(
    made(angleConcentration, {}, { models: fake }).model!.predictNew!(armsOf(["1", "2".repeat(200)])),
    /s\/1 has 200 tokens.*context of 128/,
  );
  fake.of("policy").logits.fill(Number.NaN);
  await assert.rejects(
    made(angleConcentration, {}, { models: fake }).model!.predictNew!(arms),
    /s\/0 have no angles/,
  );
});

test("GAIN-RL by its preset on a real model: its order, its window, and a resume that looks at nothing twice", async () => {
  const { config: run } = loadConfig(minimal);
  assert.ok(run);
  const registry = await openModels(run);
  try {
    const { top } = configOf(
      "extends: gain-rl\ntasks: [{ env: countdown, numbers: [3] }]\nreward: { terms: { right: equation } }\ncurriculum: { arms: { use: prompt, pool: 60 }, sampler: { width: 4, step: 3 } }\n",
    );
    const open = (): Curriculum => {
      const random = randomStream(1, "curriculum");
      const context = contextOf(top, { random, models: registry });
      return new Curriculum(top.curriculum, openSources(top.tasks, context), context);
    };
    const curriculum = open();
    const [one] = await curriculum.draw(8, randomStream(2), clock);
    const angles = Array.from({ length: curriculum.arms.size }, (_, arm) => curriculum.estimate(arm));
    assert.ok(angles.every((angle) => angle > 0 && angle < 2));
    const p = curriculum.probabilities(clock);
    const order = [...p.keys()].sort((a, b) => angles[b]! - angles[a]!);
    order.forEach((arm, rank) =>
      assert.ok(near(p[arm]! / p[order[0]!]!, Math.exp(-0.5 * (rank / 4) ** 2), 1e-9)),
    );
    // The weights have not moved, so the angle of now is that of the start.
    const drawn = curriculum.arms.find(one!.arm);
    curriculum.observe([group([1, 0, 1, 1], { arm: one!.arm, task: one!.task })], [], clock);
    const centre = 3 * Math.tanh(2 * (0.75 - 0.5)) + 3 * Math.tanh(2 * angles[drawn]!);
    const moved = curriculum.probabilities(at(1));
    const weight = (rank: number): number => Math.exp(-0.5 * ((rank - centre) / 4) ** 2);
    order.forEach((arm, rank) =>
      assert.ok(near(moved[arm]! / moved[order[0]!]!, weight(rank) / weight(0), 1e-6)),
    );
    const resumed = open();
    resumed.load(curriculum.save());
    registry.close();
    assert.deepEqual(resumed.probabilities(at(1)), moved);
  } finally {
    registry.close();
  }
});
