/** TRACE's advantages against its definition, turn by turn. */
import assert from "node:assert/strict";
import { test } from "node:test";
import type { RolloutRow } from "../../../../shared/rollouts/rollouts.ts";
import { Chain, close, paid } from "./support.ts";

/** One token a turn, and one of what it read. */
const rollout = (index: number, right: number, earned: readonly number[]): RolloutRow => {
  const length = 2 * earned.length + 1;
  const turns = Array.from({ length }, (_, k) => ({
    role: k % 2 === 0 ? "assistant" : "user",
    start: k,
    end: k + 1,
  }));
  const values = turns.map((_, k) => (k % 2 === 0 ? (earned[k / 2] ?? null) : null));
  return paid("g", index, right, length, {
    turns,
    mask: turns.map((_, k) => (k % 2 === 0 ? 1 : 0)),
    rewards: { right, progress: { level: "turn", values } },
  } as Partial<RolloutRow>);
};

const earned = [[0.5, -0.2, 0.4, 0.1, 0.3], [0.2, 0.7], []];
const right = [1, 0, 0];
const rows = earned.map((own, i) => rollout(i, right[i]!, own));

interface Numbers {
  readonly k: number;
  readonly gamma: number;
  readonly weight: number;
  readonly terminal: number;
}

/** Of each of the policy's turns. */
function defined({ k, gamma, weight, terminal }: Numbers): number[][] {
  const middle = 1 / 3;
  const spread = Math.sqrt(right.reduce((sum, one) => sum + (one - middle) ** 2, 0) / 3);
  return earned.map((deltas, i) => {
    const outcome = (right[i]! - middle) / spread;
    const turns = deltas.map((_, t) => {
      let [sum, weights, reached] = [0, 0, t];
      for (let j = 0; j < k && t + j < deltas.length; j++) {
        sum += gamma ** j * deltas[t + j]!;
        weights += gamma ** j;
        reached = t + j;
      }
      const fill = reached === deltas.length - 1 ? terminal * gamma ** (deltas.length - t) * outcome : 0;
      return outcome + weight * (sum / weights + fill);
    });
    return [...turns, outcome];
  });
}

const of = (more: string, gamma = 0.8): number[][] =>
  new Chain(`{ baseline: { use: turn_progress${more} }, scale: none, gamma: ${gamma} }`, "", [
    "right",
    "progress",
  ])
    .tokens(rows)
    .map((tokens) => tokens.filter((_, t) => t % 2 === 0));

test("a turn has its rollout's advantage, and a part of what it and the next few earned", () => {
  const source = { k: 3, gamma: 0.8, weight: 0.2, terminal: 2 };
  close(of(""), defined(source));
  close(of(", ahead: 1"), defined({ ...source, k: 1 }));
  close(of(", ahead: 9, terminal: 0.5", 0.5), defined({ ...source, k: 9, gamma: 0.5, terminal: 0.5 }));
  close(of(", weight: 0"), defined({ ...source, weight: 0 }));
});

test("where the whole group fails, turns still differ by what they earned", () => {
  const failed = rows.map((row) => ({ ...row, rewards: { ...row.rewards, right: 0 } }));
  const chain = new Chain("{ baseline: trace, scale: none, gamma: 0.8 }", "", ["right", "progress"]);
  const [first] = chain.tokens(failed);
  assert.ok(Math.abs(first![8]! - 0.2 * 0.3) < 1e-12, `${first![8]}`);
  assert.equal(first![10], 0);
});
