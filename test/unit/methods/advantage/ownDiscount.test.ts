/** A discount of its own for a source of reward: 1 for the outcome, less for a penalty by token. */
import assert from "node:assert/strict";
import { test } from "node:test";
import type { RolloutRow } from "../../../../shared/rollouts/rollouts.ts";
import { row } from "../../support.ts";
import { Chain, close } from "./support.ts";

const rows: readonly RolloutRow[] = [
  row("g", 0, {
    tokens: [1, 2, 3, 4],
    rewards: { right: 2, loops: { level: "token", values: [0, -0.05, 0, -0.05] } },
    values: [0.5, 0.25, 1, 0],
  }),
  row("g", 1, {
    tokens: [1, 2],
    rewards: { right: -10, loops: { level: "token", values: [0, 0] } },
    values: [0.5, 0.5],
  }),
];
const reward = "reward: { terms: { right: { use: equation }, loops: { use: equation, gamma: 0.9 } } }";
const names = ["right", "loops"];
const chain = (advantage: string): number[][] => new Chain(advantage, reward, names).tokens(rows);

/** Σ_k γ^k v_{t+k}. */
const returns = (values: readonly number[], gamma: number): number[] =>
  values.map((_, t) => values.slice(t).reduce((sum, value, k) => sum + gamma ** k * value, 0));
const loops = returns([0, -0.05, 0, -0.05], 0.9);
const both = loops.map((value) => 2 + value);

test("returns to go are those of each source by its own discount", () => {
  for (const sources of ["false", "true"])
    for (const when of ["after", "before"])
      close(
        chain(`{ baseline: none, scale: none, level: token, per_source: ${sources}, returns: ${when} }`),

        [both, [-10, -10]],
      );
});

test("a critic with λ = 1 has the sum of the returns less its value", () => {
  const values = [0.5, 0.25, 1, 0];
  close(chain("{ baseline: { use: critic, lambda: 1 }, scale: none }"), [
    both.map((value, t) => value - values[t]!),
    [-10.5, -10.5],
  ]);
});

test("the chain's own discount is that of the others", () => {
  const found = chain("{ baseline: none, scale: none, level: token, gamma: 0.5 }");
  close(found, [loops.map((value, t) => 2 * 0.5 ** (3 - t) + value), [-5, -10]]);
  const same = new Chain("{ baseline: none, scale: none, level: token, gamma: 0.9 }", reward, names).tokens(
    rows,
  );
  const plain = new Chain(
    "{ baseline: none, scale: none, level: token, gamma: 0.9 }",
    reward.replace(", gamma: 0.9", ""),
    names,
  ).tokens(rows);
  assert.deepEqual(same, plain);
});

test("observed tokens count as steps where the chain says so", () => {
  const seen = [
    row("g", 0, {
      tokens: [1, 2, 3],
      origin: ["written", "observed", "written"],
      rewards: { right: 0, loops: { level: "token", values: [0, 0, -1] } },
    }),
  ];
  const of = (observations: string): number[][] =>
    new Chain(
      `{ baseline: none, scale: none, level: token, observations: ${observations} }`,
      reward,
      names,
    ).tokens(seen);
  close(of("skip"), [[-0.9, 0, -1]]);
  close(of("discount"), [[-0.81, 0, -1]]);
});
