/** Questions that come one by one are asked together. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { Gathered } from "../../../server/lib/waiting/gathered.ts";

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

test("those of one turn go together, and those that come while others are asked go next", async () => {
  const asked: number[][] = [];
  let release: () => void = () => undefined;
  const held = new Promise<void>((resolve) => (release = resolve));
  const gathered = new Gathered<number, number>(async (questions) => {
    asked.push([...questions]);
    await held;
    return questions.map((question) => 10 * question);
  });
  const first = [gathered.answer(1), gathered.answer(2)];
  await turn();
  await turn();
  const later = [gathered.answer(3), gathered.answer(4)];
  release();
  assert.deepEqual(await Promise.all([...first, ...later]), [10, 20, 30, 40]);
  assert.deepEqual(asked, [
    [1, 2],
    [3, 4],
  ]);
  assert.equal(await gathered.answer(5), 50);
});

test("what asking throws is thrown to all who asked, and to no others", async () => {
  const gathered = new Gathered<number, number>((questions) =>
    questions.includes(1) ? Promise.reject(new Error("no")) : Promise.resolve([...questions]),
  );
  const both = await Promise.allSettled([gathered.answer(1), gathered.answer(2)]);
  assert.deepEqual(
    both.map(({ status }) => status),
    ["rejected", "rejected"],
  );
  assert.equal(await gathered.answer(3), 3);
});
