/** Rounds of making tasks: what is chosen, refused and taken in, and what a resumed source still knows. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { UserError } from "../../../../shared/lib/errors.ts";
import { goldPasses } from "../../../../server/methods/generation/gates/goldPasses.ts";
import { judges } from "../../../../server/methods/generation/gates/judges.ts";
import { notTrivial } from "../../../../server/methods/generation/gates/notTrivial.ts";
import { solvable } from "../../../../server/methods/generation/gates/solvable.ts";
import type {
  GeneratedOptions,
  GeneratedTasks,
} from "../../../../server/methods/generation/generatedTasks.ts";
import type { Recipe, RoundContext } from "../../../../server/methods/generation/recipe.ts";
import { round } from "../../../../server/methods/generation/round.ts";
import { successBand } from "../../../../server/methods/generation/selectors/successBand.ts";
import { weakSkills } from "../../../../server/methods/generation/selectors/weakSkills.ts";
import { similarity } from "../../../../server/methods/generation/similarity.ts";
import { lineageOf } from "../../../../server/methods/generation/task.ts";
import { critique } from "../../../../server/methods/generation/transforms/critique.ts";
import { diversify } from "../../../../server/methods/generation/transforms/diversify.ts";
import { evolve } from "../../../../server/methods/generation/transforms/evolve.ts";
import { maskSpan } from "../../../../server/methods/generation/transforms/maskSpan.ts";
import { recombine } from "../../../../server/methods/generation/transforms/recombine.ts";
import type { Complete, RememberedTask } from "../../../../server/core/slots/generation.ts";
import { randomStream } from "../../../../server/lib/random.ts";
import type { Task } from "../../../../server/core/task.ts";
import { arithmetic } from "../../../../server/methods/tasks/arithmetic.ts";
import { clock, group } from "../curriculum/support.ts";
import { made } from "../../support.ts";
import { contextOf, emptySource, parents, recipe, saying, sourceOf, sums, unasked } from "./support.ts";

/** Sums of one digit that training may ask, all different. */
const fresh = [
  ...new Map(
    Array.from({ length: 60 }, (_, i) =>
      made(arithmetic, { digits: [1] }).draw("train", undefined, randomStream(i))!,
    ).map((task) => [task.id, task]),
  ).values(),
];
const [sum, ...others] = fresh.filter(({ data }) => data["left"] !== data["right"]);

test("a program's children are easier, carry parent, author and measured difficulty, and are drawn", async () => {
  const source = sourceOf();
  assert.equal(source.draw("train", undefined, randomStream(1)), null);
  const { taken } = await round(source, recipe({ gates: [made(solvable, {})] }), contextOf());
  assert.ok(taken.length > 0);
  for (const task of taken) {
    assert.equal(task.source, "new");
    assert.equal(sums.valueOf(task), "1");
    const lineage = lineageOf(task);
    assert.deepEqual(
      { ...lineage, parents: [] },
      {
        parents: [],
        generation: 1,
        step: 7,
        transform: "simplify",
        author: "program",
        answer: "verifier",
        tried: { successes: 1, rollouts: 2 },
      },
    );
    assert.ok(parents.some(({ id }) => id === lineage?.parents[0]));
  }
  assert.ok(taken.includes(source.draw("train", undefined, randomStream(1))!));
  assert.equal(source.draw("evaluate", undefined, randomStream(1)), null);
});

test("what is there already, cannot be read or answered, and what no gate lets through is refused by its reason", async () => {
  const source = sourceOf();
  const written = {
    author: { kind: "policy", max_tokens: 9, temperature: 1 },
    transform: made(diversify, {}),
  } as const;
  const gates = [made(solvable, {}), made(notTrivial, {})];
  const first = await round(
    source,
    recipe({ ...written, gates }),
    contextOf(saying(sum!.prompt, sum!.prompt, "what?", "")),
  );
  assert.deepEqual(
    first.taken.map(({ prompt, answer }) => [prompt, answer]),
    [[sum!.prompt, sum!.answer]],
  );
  assert.deepEqual(Object.fromEntries(first.refused), {
    "the task exists already": 1,
    "its environment cannot parse it": 1,
    "the author wrote nothing": 1,
  });
  const swapped = `${sum!.data["right"]}+${sum!.data["left"]}=`;
  const again = await round(source, recipe({ ...written, gates, parents: 1 }), contextOf(saying(swapped)));
  assert.deepEqual([...again.refused.keys()], ["the task exists already"], "the same sum");
  const three = others.slice(0, 3).map(({ prompt }) => prompt);
  const rates = await round(
    source,
    recipe({ ...written, gates, parents: 3 }),
    contextOf(saying(...three), (_, i) => (i === 0 ? [0, 0] : [1, 1])),
  );
  assert.deepEqual(Object.fromEntries(rates.refused), {
    "no attempt solved it": 1,
    "every attempt solved it": 2,
  });
  const held = made(arithmetic, { digits: [1] }).draw("evaluate", undefined, randomStream(1))!;
  const leaked = await round(source, recipe({ ...written, parents: 1 }), contextOf(saying(held.prompt)));
  assert.deepEqual([...leaked.refused.keys()], ["evaluation uses it"]);
});

test("answers: a parent's, a vote's, none; two parents of one child", async () => {
  const author = { kind: "policy", max_tokens: 9, temperature: 1 } as const;
  const texts = ["one", "two", "three", "four"];
  const taken = async (
    answer: Recipe["answer"],
    more: Partial<Recipe> = {},
    said = texts,
  ): Promise<readonly Task[]> =>
    (await round(sourceOf(), recipe({ author, answer, ...more }), contextOf(saying(...said)))).taken;
  for (const task of await taken({ kind: "inherit" })) {
    const parent = parents.find(({ id }) => id === lineageOf(task)?.parents[0]);
    assert.equal(task.answer, parent?.answer);
    assert.equal(task.data["left"], parent?.data["left"]);
  }
  const vote = { kind: "vote", samples: 3, at_least: 0.5, pattern: "(\\S+)$" } as const;
  assert.deepEqual(
    (await taken(vote)).map(({ answer }) => answer),
    texts,
  );
  assert.ok((await taken({ kind: "none" })).every(({ answer }) => answer === undefined));
  const both = await taken({ kind: "none" }, { transform: made(recombine, {}), parents: 2 });
  assert.deepEqual(
    both.map((task) => lineageOf(task)?.parents.length),
    [2, 2],
  );
});

test("the oldest tasks leave, children become parents as deep as is allowed, and a resumed source is the same", async () => {
  const source = sourceOf({ keep: 2, depth: 2 });
  const harder = recipe({ transform: made(evolve, {}) });
  const { taken } = await round(source, harder, contextOf());
  assert.equal(taken.length, 4);
  assert.equal(source.size, 2);
  source.observe([group([0], { task: taken[3]! })], clock);
  source.observe(
    parents.map((task) => group([1], { task })),
    clock,
  );
  const resumed = sourceOf({ keep: 2, depth: 2 });
  resumed.load(structuredClone(source.save()));
  const [next, same] = await Promise.all([source, resumed].map((one) => round(one, harder, contextOf())));
  assert.deepEqual(same, next);
  assert.deepEqual(resumed.save(), source.save());
  const [grandchild] = next!.taken;
  assert.equal(lineageOf(grandchild!)?.generation, 2);
  assert.equal(grandchild && sums.valueOf(grandchild), "4");
  source.observe([group([0], { task: grandchild! })], clock);
  assert.equal(
    source
      .parents(9, randomStream(1), { parents: 1 })
      .flat()
      .filter(({ task }) => task.id === grandchild!.id).length,
    0,
  );
});

test("a child that leaves no room for an answer is refused, and the round goes on", async () => {
  const long = {
    author: { kind: "policy", max_tokens: 9, temperature: 1 },
    answer: { kind: "none" },
  } as const;
  const { taken, refused } = await round(
    sourceOf(),
    recipe({ ...long, transform: made(evolve, {}) }),
    contextOf(saying("what? ".repeat(400), "one more?")),
  );
  assert.deepEqual(
    taken.map(({ prompt }) => prompt),
    ["one more?"],
  );
  assert.equal(refused.get("its prompt leaves no room for an answer in the model's context"), 1);
});

test("written solutions are scored and judges asked before anything is tried", async () => {
  const source = sourceOf();
  const asked: string[] = [];
  const tried: string[] = [];
  const judge: Complete = (requests) => {
    asked.push(...requests);
    return Promise.resolve(requests.map((_, i) => [i === 0 ? "no" : "Yes"]));
  };
  const gates = [
    made(solvable, {}),
    made(judges, { judges: ["policy", "policy"], at_least: 1 }),
    made(goldPasses, {}),
  ];
  const context = contextOf(unasked, (task) => {
    tried.push(task.id);
    return [1];
  });
  const { taken, refused } = await round(source, recipe({ gates }), {
    ...context,
    policy: judge,
    grade: (tasks) => Promise.resolve(tasks.map((task, i) => group([i === 3 ? 0 : 1], { task }))),
  });
  assert.deepEqual(Object.fromEntries(refused), {
    "its written solution is not a success": 1,
    "too few judges say yes": 1,
  });
  assert.equal(asked.length, 6, "three that are right, two judges");
  assert.deepEqual(
    tried,
    taken.map(({ id }) => id),
  );
});

/** Sums of one and of two digits that were seen at these rates. */
function seenAt(
  rates: Readonly<Record<number, number>>,
  more: Partial<GeneratedOptions> = {},
): GeneratedTasks {
  const both = made(arithmetic, { digits: Object.keys(rates).map(Number) });
  const source = emptySource({ from: [both], ...more });
  for (const [digits, rate] of Object.entries(rates))
    for (let i = 0; i < 6; i++) {
      const task = both.draw("train", digits, randomStream(digits, i))!;
      source.observe([group([rate >= 1 ? 1 : 0, rate > 0 ? 1 : 0], { task })], clock);
    }
  return source;
}

test("parents are of the skills that fail, in proportion; an author's request says how often each succeeds", () => {
  const source = seenAt({ 1: 1, 2: 0.5, 3: 0 }, { selector: made(weakSkills, {}) });
  const counts = new Map<string, number>();
  for (let i = 0; i < 3000; i++) {
    const [[seen]] = source.parents(1, randomStream("weak", i), { parents: 1 }) as [[RememberedTask]];
    const digits = sums.valueOf(seen.task)!;
    counts.set(digits, (counts.get(digits) ?? 0) + 1);
  }
  assert.deepEqual([...counts.keys()].sort(), ["2", "3"], "what always succeeds is left alone");
  assert.ok(Math.abs(counts.get("3")! / 3000 - 2 / 3) < 4 * Math.sqrt(2 / 9 / 3000));
  assert.equal(
    source.feedback(),
    "arithmetic/3: 0 % solved\narithmetic/2: 50 % solved\narithmetic/1: 100 % solved",
  );
});

test("further parents of a child are those whose text is near, by letters or by a model's states", async () => {
  const author = { kind: "policy", max_tokens: 9, temperature: 1 } as const;
  /** The family of each child, in one round after another. */
  const families = async (
    by: "letters" | "embedding",
    embed: RoundContext["embed"],
  ): Promise<readonly Task[][]> => {
    const transform = made(recombine, { similarity: { by, temperature: 0.005 } });
    const found = Array.from({ length: 12 }, async (_, i): Promise<Task[]> => {
      const context = { ...contextOf(saying("a new one")), random: randomStream(i), embed };
      const parts = { transform, author, answer: { kind: "none" }, parents: 1 } as const;
      const { taken } = await round(sourceOf(), recipe(parts), context);
      return lineageOf(taken[0]!)!.parents.map((id) => parents.find((task) => task.id === id)!);
    });
    return Promise.all(found);
  };
  for (const [first, second] of await families("letters", () => Promise.reject(new Error("not asked")))) {
    const others = parents.filter(({ id }) => id !== first!.id);
    const nearest = Math.max(...others.map(({ prompt }) => similarity(first!.prompt, prompt)));
    assert.ok(similarity(first!.prompt, second!.prompt) > nearest - 0.05);
  }
  // Vectors that pair the tasks: 0 with 1, 2 with 3.
  const told: string[] = [];
  const pairs = await families("embedding", (texts, { model, pooling }) => {
    told.push(`${model} ${pooling}`);
    return Promise.resolve(
      texts.map((text) => {
        const place = parents.findIndex(({ prompt }) => prompt === text);
        return Float32Array.from(place < 2 ? [1, 0.1 * place] : [0.1 * place, -1]);
      }),
    );
  });
  for (const [first, second] of pairs)
    assert.equal(parents.indexOf(first!) < 2, parents.indexOf(second!) < 2);
  assert.deepEqual([...new Set(told)], ["policy last"]);
  await assert.rejects(
    families("embedding", (texts) => Promise.resolve(texts.map(() => Float32Array.of(Number.NaN)))),
    (error) => error instanceof UserError && /not finite/.test(error.message),
  );
});

test("tasks that were made are arms by the difficulty that their environment reports", async () => {
  const harder = { transform: made(evolve, {}), depth: 2 };
  const source = sourceOf({ from: [made(arithmetic, { digits: [1, 2] })], ...harder });
  assert.deepEqual(source.values, ["2", "3", "4"]);
  assert.deepEqual(sourceOf({ byProgram: false }).values, ["2", "other"]);
  assert.deepEqual(sourceOf({ transform: made(maskSpan, {}) }).values, []);
  source.observe(
    parents.map((task) => group([0], { task: { ...task, source: "arithmetic" } })),
    clock,
  );
  const { taken } = await round(source, recipe(harder), contextOf());
  assert.ok(taken.length > 0 && taken.every((task) => source.valueOf(task) === "3"));
  assert.ok(taken.includes(source.draw("train", "3", randomStream(1))!));
  assert.equal(source.draw("train", "2", randomStream(1)), null);
});

test("responses are remembered for transforms that show them, and are saved", async () => {
  const source = sourceOf({ transform: made(critique, { answers: 1 }) });
  const answers = [
    { response: "right", right: true },
    { response: "wrong", right: false },
    { response: "also wrong", right: false },
  ];
  source.observe([group([1, 0, 0], { task: parents[0]!, answers })], clock);
  const resumed = sourceOf({ transform: made(critique, { answers: 1 }) });
  resumed.load(structuredClone(source.save()));
  const kept = resumed.parents(4, randomStream(1), { parents: 1 }).flat();
  assert.deepEqual(
    kept.flatMap((seen) => seen.answers),
    [],
  );
  const all = sourceOf({ transform: made(critique, { answers: 1 }), selector: made(successBand, {}) });
  all.load(structuredClone(source.save()));
  const { taken } = await round(all, recipe({ transform: made(critique, {}), parents: 9 }), contextOf());
  assert.equal(taken.length, 1);
  assert.ok(["right", "wrong"].includes(String(taken[0]!.data["response"])));
});
