/** DigiRL's step advantage. */
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Stats } from "../../../../server/core/policy.ts";
import { Chain, close, paid } from "./support.ts";

test("step leads: a turn counts 1 where it raises the chance of success or leads to it; the best rollouts alone train", () => {
  const turns = [
    { role: "assistant", start: 0, end: 2 },
    { role: "assistant", start: 2, end: 3 },
  ];
  const rows = [paid("g", 0, 1, 3, { turns }), paid("g", 1, 0, 3, { turns }), paid("g", 2, 0, 3, { turns })];
  const logit = (chance: number): number => Math.log(chance / (1 - chance));
  // Read at a turn's first token. The second rollout fails, and its first turn still took it from 0.2 to 0.3.
  const chances = [0.5, 0.99, 0.1, 0.2, 0.99, 0.3, 0.4, 0.01, 0.42];
  const heads: Stats = {
    "head:v1": Float64Array.from(chances, logit),
    "head:v2": Float64Array.from(chances, (chance) => logit(chance) + 1),
    "head:task": Float64Array.from([0.9, 0, 0, 0.1, 0, 0, 0.3, 0, 0], (chance) => logit(chance || 0.5)),
  };
  const of = (more: string): number[][] =>
    new Chain(`{ baseline: { use: step_lead${more} }, scale: none }`).tokens(rows, heads);
  close(of(""), [
    [1, 1, 1],
    [1, 1, 0],
    [0, 0, 0], // 0.42 is no more than the margin ahead of 0.4.
  ]);
  close(of(", margin: 0.01"), [
    [1, 1, 1],
    [1, 1, 0],
    [1, 1, 0],
  ]);
  // Rewards beyond what was expected: 1 − 0.9, 0 − 0.1, 0 − 0.3.
  const chain = new Chain("{ baseline: { use: step_lead, instruction: task, keep: 0.34 }, scale: none }");
  assert.deepEqual([...chain.advantages(rows, heads).exists], [1, 1, 1, 1, 1, 1, 0, 0, 0]);
});
