import assert from "node:assert/strict";
import { test } from "node:test";
import { curriculumQuery, type InputOf } from "../../../shared/protocol/protocol.ts";
import type { Store } from "../../../server/store/store.ts";
import { group, metrics, rollout, start, type Written } from "../log/sample.ts";
import { ingestWhole, newStore, write } from "./support.ts";

interface Drawn {
  readonly arm: string;
  readonly task: string;
  readonly right: number;
  readonly of: number;
  readonly reason?: string;
}
const drawn = (step: number, name: string, { arm, task, right, of, reason }: Drawn): Written => ({
  ...group(step, name),
  ...({
    kind: "group",
    step,
    group: name,
    task,
    arm,
    admitted: reason === undefined,
    reason: reason ?? null,
    successes: right,
    size: of,
    signal: 0,
  } as const),
});
const ask = (store: Store, changes: Partial<InputOf<typeof curriculumQuery>> = {}) =>
  store.queries.curriculum(curriculumQuery.params.parse({ run: "a", ...changes }));

/** Two arms over 10 steps: "easy" is always right, "hard" never but at step 9. Four tokens a rollout. */
const steps = (): (readonly [readonly Written[], number])[] =>
  Array.from({ length: 10 }, (_, step) => {
    const easy = drawn(step, "e", {
      arm: "easy",
      task: `e${step % 2}`,
      right: 2,
      of: 2,
      reason: "all right",
    });
    const hard = drawn(step, "h", {
      arm: "hard",
      task: "h",
      right: step === 9 ? 1 : 0,
      of: 2,
      ...(step === 9 ? {} : { reason: "all wrong" }),
    });
    const rollouts = ["e", "h"].flatMap((name) => [rollout(step, 0, name), rollout(step, 1, name)]);
    return [[metrics(step), easy, hard, ...rollouts], step] as const;
  });

test("groups are counted by arm and by steps, with what was spent on those that taught nothing", () => {
  const { folder, store } = newStore();
  write(folder, "a", 0, [[[start()], -1], ...steps()]);
  ingestWhole(store, "a");
  const { lanes, columns, reasons, more, width, to } = ask(store, { columns: 5 });
  assert.deepEqual({ width, to, more }, { width: 2, to: 9, more: 0 });
  assert.deepEqual(
    lanes.map(({ name, groups, admitted, dead, exhausted, tokens, deadTokens, exhaustedTokens }) => [
      name,
      groups,
      admitted,
      dead,
      exhausted,
      tokens,
      deadTokens,
      exhaustedTokens,
    ]),
    [
      ["easy", 10, 0, 0, 10, 80, 0, 80],
      ["hard", 10, 1, 9, 0, 80, 72, 0],
    ],
  );
  assert.deepEqual(lanes[1]?.columns, [0, 1, 2, 3, 4]);
  assert.deepEqual(lanes[1].rates, [0, 0, 0, 0, 0.25]);
  assert.deepEqual(lanes[1].admittedIn, [0, 0, 0, 0, 1]);
  assert.deepEqual(
    columns.map(({ column, groups, admitted, unmeasured }) => [column, groups, admitted, unmeasured]),
    [0, 1, 2, 3, 4].map((column) => [column, 4, column === 4 ? 1 : 0, 0]),
  );
  assert.deepEqual(reasons, [
    { reason: "all right", groups: 10 },
    { reason: "all wrong", groups: 9 },
  ]);
});

test("an arm's tasks, and a part of the steps; what finds no lane is counted", () => {
  const { folder, store } = newStore();
  write(folder, "a", 0, [[[start()], -1], ...steps()]);
  ingestWhole(store, "a");
  const tasks = ask(store, { by: "task", arm: "easy", from: 3, to: 5 });
  assert.deepEqual({ from: tasks.from, to: tasks.to, width: tasks.width }, { from: 3, to: 5, width: 1 });
  assert.deepEqual(
    tasks.lanes.map(({ name, columns }) => [name, columns]),
    [
      ["e1", [0, 2]],
      ["e0", [1]],
    ],
  );
  assert.equal(tasks.columns.length, 3);
  assert.equal(ask(store, { by: "task", lanes: 1 }).more, 2);
  assert.deepEqual(ask(store, { arm: "no such" }).lanes, []);
});

test("steps that a later attempt trained again are counted once", () => {
  const { folder, store } = newStore();
  write(folder, "a", 0, [[[start()], -1], ...steps()]);
  write(folder, "a", 1, [[[start(1, 6)], 5], ...steps().slice(6, 8)]);
  ingestWhole(store, "a");
  assert.deepEqual(
    ask(store).lanes.map(({ groups, tokens }) => [groups, tokens]),
    [
      [8, 64],
      [8, 64],
    ],
  );
});

test("a hundred thousand groups are counted by arm and by task, each once", () => {
  const { folder, store } = newStore();
  const many = Array.from({ length: 1000 }, (_, step) => {
    const groups = Array.from({ length: 100 }, (_, i) =>
      drawn(step, `g${i}`, {
        arm: `arm/${i % 20}`,
        task: `t${(step * 100 + i) % 5000}`,
        right: i % 9,
        of: 8,
      }),
    );
    return [groups, step] as const;
  });
  write(folder, "a", 0, [[[start()], -1], ...many]);
  ingestWhole(store, "a");
  const { lanes, more } = ask(store, { by: "task" });
  const arms = ask(store);
  assert.equal(
    arms.lanes.reduce((sum, { groups }) => sum + groups, 0),
    100_000,
  );
  assert.equal(lanes.length + more, 5000);
});
