/** Concepts that tasks need: how they are read, drawn together, and asked for. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { ConceptBook, conceptsIn, conceptsOf } from "../../../../server/methods/generation/conceptBook.ts";
import { ConceptTable } from "../../../../server/methods/generation/conceptSampling.ts";
import {
  GeneratedTasks,
  type GeneratedOptions,
} from "../../../../server/methods/generation/generatedTasks.ts";
import type { Recipe, RoundContext } from "../../../../server/methods/generation/recipe.ts";
import { round } from "../../../../server/methods/generation/round.ts";
import { neverLearned } from "../../../../server/methods/generation/selectors/neverLearned.ts";
import { vectorsOf } from "../../../../server/methods/generation/similarity.ts";
import { lineageOf } from "../../../../server/methods/generation/task.ts";
import { concepts } from "../../../../server/methods/generation/transforms/concepts.ts";
import type { Complete } from "../../../../server/core/slots/generation.ts";
import { randomStream } from "../../../../server/lib/random.ts";
import type { Task } from "../../../../server/core/task.ts";
import { arithmetic } from "../../../../server/methods/tasks/arithmetic.ts";
import { clock, group } from "../curriculum/support.ts";
import { made, near } from "../../support.ts";

test("an answer's concepts are its lines, or the texts of its last list; a field's are its own", () => {
  assert.deepEqual(conceptsIn("1. Adding\n2) Carrying  over\n- Adding\n\n* **Place value**: tens\n"), [
    "Adding",
    "Carrying over",
    "Place value: tens",
  ]);
  const code = `First [1, 2].\n\`\`\`python\nfound = ["Vieta's formulas", 'roots']\n\`\`\``;
  assert.deepEqual(conceptsIn(code), ["Vieta's formulas", "roots"]);
  assert.deepEqual(conceptsIn("```\n \n```"), []);
  assert.deepEqual(conceptsIn(`nonsense ${"x".repeat(400)}`), []);
  const task = (needs: unknown) => ({ data: { needs } }) as unknown as Task;
  assert.deepEqual(conceptsOf(task(["a", " b ", 3, "a"]), "needs"), ["a", "b"]);
  assert.deepEqual(conceptsOf(task("a\nb"), "needs"), ["a", "b"]);
  assert.deepEqual(conceptsOf(task(7), "needs"), []);
  assert.deepEqual(conceptsOf(task("a"), "others"), []);
});

/** Unit vectors at these degrees, under the names a, b, c, …: their cosines are those of differences. */
const at = async (...degrees: readonly number[]) =>
  vectorsOf(degrees.map(String), { by: "embedding", model: "policy", pooling: "last" }, () =>
    Promise.resolve(
      degrees.map((angle) =>
        Float32Array.of(Math.cos((angle * Math.PI) / 180), Math.sin((angle * Math.PI) / 180)),
      ),
    ),
  );

test("what a concept is worth compared with others: tasks that name both, and its cosine with their mean", async () => {
  const table = new ConceptTable([
    ["a", "b"],
    ["a", "b", "c"],
    ["c", "d"],
    ["a", "a"],
  ]);
  assert.deepEqual(table.names, ["a", "b", "c", "d"]);
  const vectors = await at(0, 90, 45, 135);
  const [a, b, c, d] = [0, 1, 2, 3];
  assert.ok(near(table.score([a], b, vectors), 2 + 0, 1e-6));
  assert.ok(near(table.score([a], d, vectors), Math.cos((135 * Math.PI) / 180), 1e-6));
  // c goes with a once and with b once; the mean of a and b points where c does.
  assert.ok(near(table.score([a, b], c, vectors), 2 + 1, 1e-6));
  assert.ok(near(table.score([a, b], d, vectors), 0 + 0, 1e-6));
});

test("the first concept is drawn as often as it is named, the second by the softmax of its score", async () => {
  const table = new ConceptTable([["a", "b"], ["a"], ["a"], ["c"]]);
  const vectors = await at(0, 60, 90);
  const temperature = 0.5;
  const [firsts, seconds] = [new Map<string, number>(), new Map<string, number>()];
  const n = 20_000;
  for (let i = 0; i < n; i++) {
    const [first, second] = table.draw(2, temperature, vectors, randomStream(i)) as [string, string];
    firsts.set(first, (firsts.get(first) ?? 0) + 1);
    if (first === "a") seconds.set(second, (seconds.get(second) ?? 0) + 1);
  }
  const close = (found: number, p: number, of: number): boolean =>
    Math.abs(found / of - p) < 4 * Math.sqrt((p * (1 - p)) / of);
  // a is named three times, b and c once.
  assert.ok(close(firsts.get("a")!, 3 / 5, n) && close(firsts.get("b")!, 1 / 5, n));
  const [withB, withC] = [Math.exp((1 + 0.5) / temperature), Math.exp(0 / temperature)];
  assert.ok(close(seconds.get("b")!, withB / (withB + withC), firsts.get("a")!));
  assert.deepEqual(
    new Set(table.draw(9, temperature, vectors, randomStream(1))).size,
    3,
    "no more than there are",
  );
  // Nothing overflows at a temperature near 0.
  assert.deepEqual(table.draw(3, 1e-6, vectors, randomStream(2)).length, 3);
});

const author = { kind: "policy", max_tokens: 64, temperature: 1 } as const;
const sums = made(arithmetic, { digits: [1, 2] });
/** Two tasks of one digit and two of two, none of them ever solved. */
const weak = ["1", "1", "2", "2"].map((digits, i) => sums.draw("train", digits, randomStream("weak", i))!);
const [, , third] = weak;

function sourceOf(transform = made(concepts, {}), more: Partial<GeneratedOptions> = {}): GeneratedTasks {
  const selector = made(neverLearned, { budget: "failure_ratio" });
  const source = new GeneratedTasks({
    name: "new",
    from: [sums],
    selector,
    transform,
    byProgram: false,
    keep: 20,
    depth: 1,
    ...more,
  });
  for (let n = 0; n < 2; n++)
    source.observe(
      weak.map((task) => group([0, 0], { task })),
      clock,
    );
  return source;
}
const recipeOf = (transform = made(concepts, {}), more: Partial<Recipe> = {}): Recipe => ({
  transform,
  author,
  answer: { kind: "none" },
  gates: [],
  parents: 3,
  children: 1,
  names: { transform: "concepts", author: "policy", answer: "none" },
  ...more,
});
const contextOf = (complete: Complete): RoundContext => ({
  random: randomStream("concepts"),
  step: 3,
  fits: () => true,
  attempt: () => Promise.reject(new Error("not tried")),
  grade: () => Promise.reject(new Error("not scored")),
  complete,
  policy: complete,
  embed: () => Promise.reject(new Error("compared by letters")),
});
/** Names concepts of a task by its prompt, and writes a task for any other request. */
const writer = (asked: string[] = []): Complete => {
  let written = 0;
  return (requests, { temperature }) => {
    asked.push(...requests);
    return Promise.resolve(
      requests.map((text) => {
        if (!text.includes("Concepts:\n") || /Field:/.test(text))
          return [`plan\n\`\`\`text\nnew ${written++}\n\`\`\``];
        assert.equal(temperature, 0);
        const i = weak.findIndex(({ prompt }) => text.includes(`Problem:\n${prompt}\n`));
        return [i === 2 ? "" : `adding\nkind ${i < 2 ? "one" : "two"}\ncase ${i}`];
      }),
    );
  };
};

test("concepts of weak tasks are asked for once, drawn within a kind, and the child is asked for by them", async () => {
  const transform = made(concepts, { size: 2, take: "```text\n(.*?)```", levels: ["hard"] });
  const [source, asked] = [sourceOf(transform), [] as string[]];
  const { taken, parents, refused } = await round(source, recipeOf(transform), contextOf(writer(asked)));
  assert.equal(parents, 3);
  assert.deepEqual([...refused], [["its parent's concepts are unknown", 1]]);
  assert.equal(asked.length, 4 + 3);
  assert.deepEqual(
    taken.map(({ prompt }) => prompt),
    ["new 0", "new 1", "new 2"],
  );
  for (const task of taken) {
    const { concepts: drawn, category, level } = task.data;
    assert.ok(Array.isArray(drawn) && drawn.length === 2 && new Set(drawn).size === 2);
    assert.equal(level, "hard");
    const one = category === "arithmetic/1";
    assert.ok(one || category === "arithmetic/2");
    assert.ok(!drawn.includes(one ? "kind two" : "kind one"), "of its own kind only");
    const from = lineageOf(task)!.parents.map((id) => weak.findIndex((parent) => parent.id === id));
    assert.ok(from.every((i) => (one ? i < 2 : i === 3)) && from.length > 0, "tasks that name them");
    const request = asked.find((text) => drawn.every((concept) => text.includes(`. ${String(concept)}`)));
    assert.match(request ?? "", /Field: arithmetic\/\d\n[^]*Difficulty: hard/);
  }
  // What was named is remembered, in a resumed source too; no one is asked again.
  const resumed = sourceOf(transform);
  resumed.load(structuredClone(source.save()));
  assert.deepEqual(resumed.save(), source.save());
  const more: string[] = [];
  await round(resumed, recipeOf(transform), contextOf(writer(more)));
  assert.ok(more.every((text) => text.includes("Field:")));
  assert.deepEqual(resumed.concepts.of(third!.id), []);
});

test("data may name the concepts; an author who names none is reported, as is one who writes no task", async () => {
  const named = made(concepts, { field: "left", size: 1 });
  const silent: Complete = (requests) => Promise.resolve(requests.map(() => ["I can't help with that."]));
  const byData = await round(sourceOf(named), recipeOf(named), contextOf(silent));
  assert.deepEqual(
    { parents: byData.parents, taken: byData.taken },
    { parents: 0, taken: [] },
    "a number names nothing",
  );
  assert.deepEqual([...byData.refused], [["its parent's concepts are unknown", 4]]);
  const transform = made(concepts, { take: "`(.+)`" });
  const empty: Complete = (requests) => Promise.resolve(requests.map(() => [""]));
  const none = await round(sourceOf(transform), recipeOf(transform), contextOf(empty));
  assert.equal(none.parents, 0);
  const odd = await round(sourceOf(transform), recipeOf(transform), contextOf(silent));
  assert.deepEqual(
    [...odd.refused],
    [
      [
        "this round has drawn its concepts already",
        odd.refused.get("this round has drawn its concepts already"),
      ],
      ["the author's text contains no task", odd.parents],
    ],
  );
  assert.deepEqual(odd.taken, []);
});

test("a book forgets what no task is remembered of; not more parents than that are asked about at once", async () => {
  const book = new ConceptBook();
  book.learn("a", ["x"]);
  book.learn("b", ["y"]);
  book.keep((id) => id === "b");
  assert.deepEqual([book.of("a"), book.of("b")], [undefined, ["y"]]);
  const transform = made(concepts, { ask_most: 1 });
  const asked: string[] = [];
  await round(sourceOf(transform), recipeOf(transform, { parents: 1 }), contextOf(writer(asked)));
  assert.equal(asked.filter((text) => !text.includes("Field:")).length, 1);
});
