/** The single-turn pack: answers that are right by another way, splits, and the reward of drawings. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { drawing, rastered, shapesOf } from "../../../../server/lib/texts/drawing.ts";
import type { TaskSource } from "../../../../server/core/slots/tasks.ts";
import { splitOf } from "../../../../server/core/split.ts";
import type { Task } from "../../../../server/core/task.ts";
import { randomStream } from "../../../../server/lib/random.ts";
import { render as renderTerm } from "../../../../server/methods/reward/render.ts";
import { bandit } from "../../../../server/methods/tasks/pack/bandit.ts";
import { render } from "../../../../server/methods/tasks/pack/render.ts";
import { stringComposition } from "../../../../server/methods/tasks/pack/stringComposition.ts";
import { stringFunctions } from "../../../../server/methods/tasks/pack/stringFunctions.ts";
import { surface } from "../../../../server/methods/tasks/pack/surface.ts";
import { scoring } from "../../../support/pythonReward.ts";
import { batchOf, made, near } from "../../support.ts";

const drawn = (source: TaskSource, value: string, split: "train" | "evaluate", number: number): Task => {
  const task = source.draw(split, value, randomStream(2, value, number));
  assert.ok(task !== null, `${source.name}/${value}: no ${split} task`);
  assert.deepEqual([splitOf(task.id), source.valueOf(task)], [split, value]);
  assert.deepEqual(task, source.draw(split, value, randomStream(2, value, number)));
  return task;
};
const several = (source: TaskSource, count = 8): Task[] =>
  source.values.flatMap((value) =>
    (["train", "evaluate"] as const).flatMap((split) =>
      Array.from({ length: count }, (_, at) => drawn(source, value, split, at)),
    ),
  );

test("compositions are applied from the inside out, and only the chosen functions occur", () => {
  const source = made(stringComposition, { depths: [1, 3], functions: [0, 1, 11], definitions: "shown" });
  for (const task of several(source)) {
    const { text, functions } = task.data;
    assert.ok(Array.isArray(functions) && typeof text === "string");
    const calls = [...task.prompt.matchAll(/func_(\d+)\(/g)].map(([, at]) => Number(at));
    // Definitions come first, each with its own name.
    assert.deepEqual(calls.slice(-functions.length).reverse(), functions);
    for (const at of functions) {
      assert.ok([0, 1, 11].includes(Number(at)));
      assert.ok(
        task.prompt.includes(`def func_${String(at)}(s): return ${stringFunctions[Number(at)]!.body}\n`),
      );
    }
    assert.equal(
      functions.reduce<string>((value, at) => stringFunctions[Number(at)]!.apply(value), text),
      task.answer,
    );
  }
  const hidden = made(stringComposition, { definitions: "hidden" });
  assert.ok(several(hidden).every(({ prompt }) => /^(func_\d+\()+"[a-z]{4}"\)+=$/.test(prompt)));
  const value = (at: number, text: string): string => stringFunctions[at]!.apply(text);
  assert.deepEqual(
    stringFunctions.map((_, at) => value(at, "banana")),
    [
      "ananab",
      "bananabanana",
      "ananab",
      "abanan",
      "bnn",
      "aaabnn",
      "bnn",
      "bananaananab",
      "bbaannaannaa",
      "bananax",
      "qbanana",
      "cbobob",
      "anaban",
      "ban",
      "banan",
      "bonono",
    ],
  );
});

test("an item of the surface variants is on one side of the split in all forms", () => {
  const forms = ["digits", "english", "german", "french", "roman", "binary", "reversed", "unary"] as const;
  const source = made(surface, { forms: [...forms], most: 99 });
  for (const { data, answer, id } of several(source)) {
    assert.equal(id, `surface:${String(data["left"])}+${String(data["right"])}`);
    if (data["form"] === "binary")
      assert.equal(Number.parseInt(answer!, 2), Number(data["left"]) + Number(data["right"]));
  }
  const written = (form: (typeof forms)[number], sum: number): string => {
    for (let at = 0; at < 5000; at++) {
      const task = made(surface, { forms: [form], most: 99 }).draw("train", form, randomStream(3, at))!;
      if (Number(task.data["left"]) + Number(task.data["right"]) === sum) return task.answer!;
    }
    return assert.fail(`no sum of ${sum}`);
  };
  assert.deepEqual(
    [
      written("french", 71),
      written("french", 80),
      written("french", 91),
      written("french", 21),
      written("german", 21),
      written("english", 42),
      written("roman", 49),
      written("reversed", 30),
    ],
    [
      "soixante-et-onze",
      "quatre-vingts",
      "quatre-vingt-onze",
      "vingt-et-un",
      "einundzwanzig",
      "forty-two",
      "XLIX",
      "03",
    ],
  );
  assert.equal(
    made(surface, { forms: ["roman"], answers: "digits" })
      .draw("train", "roman", randomStream(1))!
      .answer!.replace(/\d/g, ""),
    "",
  );
});

test("a bandit's answer is its best action; played, pulls pay by its means and regret adds up", async () => {
  const source = made(bandit, { arms: [3], pulls: 20, turns: 400 });
  for (const { data, answer, prompt } of several(source)) {
    const { means, history } = data;
    assert.ok(Array.isArray(means) && Array.isArray(history));
    assert.equal(answer, "ABC"[means.indexOf(Math.max(...means.map(Number)))]);
    assert.equal(prompt, `${history.join(" ")}\nBest of ABC:`);
    assert.equal(history.length, 20);
  }
  const task = drawn(source, "3", "train", 0);
  const [first, second] = [await source.play!.open(), await source.play!.open()];
  await first.reset(task, 5);
  await second.reset(task, 5);
  const means = (Array.isArray(task.data["means"]) ? task.data["means"] : []).map(Number);
  let [earned, step] = [0, await first.step("b")];
  assert.deepEqual(step, await second.step("B"));
  for (earned += step.reward ?? 0; !step.done; earned += step.reward ?? 0) step = await first.step("B");
  assert.ok(near(step.components!["regret"], 400 * (Math.max(...means) - means[1]!), 1e-9));
  assert.ok(
    Math.abs(earned / 400 - means[1]!) < 4 * Math.sqrt(0.25 / 400),
    `${earned / 400} for ${means[1]}`,
  );
  assert.equal((await second.step("Z")).components!["invalid"], 1);
});

test("a drawing's code draws its picture, and is scored by normalised pixels and length", async () => {
  const source = made(render, { shapes: [1, 3], shades: ["3", "9"] });
  const tasks = several(source);
  for (const { answer, data } of tasks) {
    const side = Number(data["side"]);
    const pixels = rastered(shapesOf(answer!)!, side);
    const rows = String(data["picture"]).split("\n");
    assert.ok(
      rows.every((row, y) =>
        [...row].every((digit, x) => Math.round(pixels[y * side + x]! * 9) === Number(digit)),
      ),
    );
    assert.equal(drawing(shapesOf(answer!)!), answer);
  }
  const task: Task = {
    id: "render:2:90/00",
    source: "r",
    env: "render",
    prompt: "",
    answer: '<rect x="0" y="0" width="1" height="1" fill="9"/>',
    data: { side: 2, picture: "90\n00", shapes: 1 },
  };
  const scores = async (responses: readonly string[], length: number): Promise<number[]> => {
    const batch = batchOf(
      responses.map((response, index) => ({ step: 0, group: "g", index, response, tokens: [1] })),
    );
    const own = { ...batch, records: batch.records.map((record) => ({ ...record, task })) };
    const values = await made(renderTerm, { length }).score(own, scoring());
    return values.map((one) => (one.kind === "value" ? one.value : Number.NaN));
  };
  const long = `${task.answer!}${" ".repeat(1)}${"<!-- -->".repeat(20)}`;
  // Mean 1/4: N·σ² = (3/4)² + 3·(1/4)² = 3/4. One pixel more is apart by 1, all four by 3.
  const [exact, more, all, none, blank] = await scores(
    [
      task.answer!,
      '<rect x="0" y="0" width="2" height="1"/>',
      '<rect x="0" y="0" width="2" height="2"/>',
      "no",
      '<circle cx="9" cy="9" r="0"/>',
    ],
    0,
  );
  assert.ok(
    near(exact, 1) &&
      near(more, 1 - 1 / 0.75) &&
      near(all, -1) &&
      near(none, -1) &&
      near(blank, 1 - 1 / 0.75),
  );
  const [short, padded] = await scores([task.answer!, long], 0.1);
  const lengths = task.answer!.length;
  assert.ok(near(short, 1 + 0.1 * (1 - 0.25)));
  assert.ok(near(padded, 1 + 0.1 * (1 - ((long.trim().length - lengths / 2) / lengths) ** 2)));
  assert.equal(shapesOf('<rect x="1" y="1" width="2"/>'), null);
});
