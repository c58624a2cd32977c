/** The reward that `gradus init` writes, and its test. */
export const rewardName = "rewards/brevity.ts";
export const testName = "rewards/brevity.test.ts";

export const reward = `/** What a reward function receives for each response. */
export interface Rollout {
  readonly prompt: string;
  readonly response: string;
  readonly task: {
    readonly answer?: string;
    /** The environment's own fields; for countdown the numbers and the target. */
    readonly data: { readonly numbers?: readonly number[]; readonly target?: number };
  };
}

/**
 * Worth more without superfluous characters: 1 for an answer as short as one that uses each number
 * once can be, a half for one twice as long. The empty answer is worth 0: the easiest
 * answer must never earn anything by itself.
 *
 * Return null where the term does not apply. An exception is an error, never a reward of 0.
 */
export function score({ response, task }: Rollout): number | null {
  const written = response.trim().length;
  if (written === 0) return 0;
  // Each number's digits, and an operator between each two.
  const needed = (task.data.numbers ?? []).join("+").length;
  return Math.min(1, needed / written);
}
`;

export const test = `// Node 22.18 or newer: node --test ${testName}
// An older one:        npx tsx --test ${testName}
import assert from "node:assert/strict";
import { test } from "node:test";
import { score } from "./brevity.ts";

const scoreOf = (response: string): number | null =>
  score({ prompt: "3 5 7=22:", response, task: { data: { numbers: [3, 5, 7], target: 22 } } });

test("an answer without a superfluous character is worth 1", () => {
  assert.equal(scoreOf("3*5+7"), 1);
});

test("longer answers are worth less, and never less than 0", () => {
  assert.equal(scoreOf("3*5 + 7 = 2"), 5 / 11);
  assert.ok((scoreOf("1".repeat(500)) ?? -1) >= 0);
});

test("the empty answer is worth nothing", () => {
  assert.equal(scoreOf(""), 0);
  assert.equal(scoreOf(" "), 0);
});
`;
