/** Values of steps in a tree of rollouts, against ReST-MCTS*'s definition. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { treeValue } from "../../../../server/methods/reward/process/treeValue.ts";
import type { TermValue } from "../../../../server/core/slots/reward.ts";
import type { RolloutRow } from "../../../../shared/rollouts/rollouts.ts";
import { made } from "../../support.ts";
import { rowOf, saidBy } from "./support.ts";

/** Two tokens a step. */
const row = (index: number, steps: number, more: Partial<RolloutRow> = {}): RolloutRow =>
  rowOf("xx".repeat(steps), {
    index,
    steps: Array.from({ length: steps }, (_, k): [number, number] => [2 * k, 2 * k + 2]),
    ...more,
  });
const left = (index: number, step: number): Pick<RolloutRow, "parent"> => ({
  parent: { index, token: 2 * step },
});

const scored = (
  rows: readonly RolloutRow[],
  correct: readonly (number | TermValue)[],
): Promise<(number | string | readonly number[])[]> =>
  saidBy(made(treeValue, {}), rows, {
    said: () => correct.map((one) => (typeof one === "number" ? { kind: "value", value: one } : one)),
  });

const close = (found: unknown, wanted: readonly number[]): void => {
  assert.ok(Array.isArray(found) && found.length === wanted.length, JSON.stringify(found));
  found.forEach((value, k) => assert.ok(Math.abs(value - wanted[k]!) < 1e-12, JSON.stringify(found)));
};

test("a way to a correct answer climbs to 1, and what leaves it falls by the same rule", async () => {
  // Rollout 0 is right in three steps. 1 leaves it after its first step and is wrong, 2 is right one step sooner.
  const found = await scored(
    [row(0, 3), row(1, 3, left(0, 1)), row(2, 2, left(0, 1)), row(3, 2)],
    [1, 0, 1, 0],
  );
  // After step 1 the shortest correct way has 1 step more: m = 2, v = 0 + 1/2. Then rollout 2: m = 1, v = ½ + ½.
  close(found[2], [0.5, 1]);
  // Rollout 0 goes on with m = 2 and m = 1.
  close(found[0], [0.5, 0.75, 1]);
  // Rollout 1 has left it: the last state with a correct way has m = 2: ½ − ½/2, and from ¼ again: ¼ − ¾/2 < 0.
  close(found[1], [0.5, 0.25, 0]);
  // Rollout 3 is wrong from the prompt on, whose shortest way has m = 3: never below 0.
  close(found[3], [0, 0]);
});

test("v_k = v_{k−1} + (1 − v_{k−1}) / (m_k + 1) (1 − 2 r_k) with m_k steps left and an error of 0", async () => {
  const steps = 5;
  const [found] = await scored([row(0, steps)], [1]);
  let v = 0;
  const wanted = Array.from({ length: steps }, (_, k) => (v += (1 - v) / (steps - k)));
  close(found, wanted);
  close(found, [0.2, 0.4, 0.6, 0.8, 1]);
});

test("a group without a correct rollout has no labels, and an unknown outcome passes on what it is", async () => {
  assert.deepEqual(await scored([row(0, 2), row(1, 2, left(0, 1))], [0, 0]), ["none", "none"]);
  const failed: TermValue = { kind: "error", message: "broken" };
  const found = await scored([row(0, 2), row(1, 2)], [1, failed]);
  assert.equal(found[1], "broken");
  close(found[0], [0.5, 1]);
});

test("groups are trees of their own, and a rollout without steps has one value", async () => {
  const found = await scored(
    [row(0, 2), { ...row(0, 2), group: "h" }, rowOf("xx", { group: "h", index: 1 })],
    [1, 0, 1],
  );
  close(found[0], [0.5, 1]);
  close(found[1], [0, 0]);
  assert.equal(found[2], 1);
});
