/** Groups that get more rollouts by what the first of them earned, in runs of a few steps. */
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { ofKind, testRun } from "../../support/runFolder.ts";
import { temporary } from "../support.ts";

const small = [
  "steps=3",
  "model={ base: tiny, width: 16, layers: 1, heads: 2, hidden: 32, context: 64 }",
  "evaluation={ every: 9, prompts: 2, pass_at: [1] }",
];

interface Written {
  readonly admitted: boolean;
  readonly rewards: readonly number[];
  readonly indices: readonly number[];
  readonly prompts: ReadonlySet<string>;
}

/** Of each group of a run, what was written. About half of what an untrained model writes is right. */
async function groupsOf(preset: string, ...set: readonly string[]): Promise<Written[]> {
  const folder = temporary();
  const file = join(folder, "run.gradus.yaml");
  writeFileSync(
    join(folder, "even.ts"),
    "export const score = ({ response }: { response: string }): number => (response.charCodeAt(0) || 1) % 2;",
  );
  writeFileSync(
    file,
    `extends: ${preset}\ntasks: [{ env: countdown }]\nreward: { terms: { even: ./even.ts } }\n`,
  );
  const run = testRun([...small, ...set], file);
  try {
    assert.equal(await run.work(), 0, run.ending());
    const rollouts = ofKind(run.records(), "rollout").filter(({ row }) => row.use !== "evaluate");
    return ofKind(run.records(), "group").map(({ step, group, size, admitted }) => {
      const rows = rollouts.filter((one) => one.step === step && one.row.group === group);
      assert.equal(rows.length, size);
      return {
        admitted,
        rewards: rows.map(({ row }) => Number(row.reward)),
        indices: rows.map(({ row }) => row.index),
        prompts: new Set(rows.map(({ row }) => String(row.prompt))),
      };
    });
  } finally {
    run.remove();
  }
}

const isMixed = (rewards: readonly number[]): boolean => new Set(rewards).size > 1;

test("two_phase: a group is whole where its first rollouts are mixed, and alone then it trains", async () => {
  const groups = await groupsOf(
    "speed-rl",
    "rollout={ prompts: 8, group: 6, max_tokens: 4 }",
    "curriculum.arms.pool=64",
    "curriculum.budget.initial=2",
  );
  for (const { rewards, indices, prompts, admitted } of groups) {
    const goes = isMixed(rewards.slice(0, 2));
    assert.equal(rewards.length, goes ? 6 : 2, JSON.stringify(rewards));
    assert.deepEqual(indices, [...rewards.keys()]);
    assert.equal(prompts.size, 1);
    if (!goes) assert.ok(!admitted);
  }
  for (const length of [2, 6]) assert.ok(groups.some(({ rewards }) => rewards.length === length));
  assert.ok(groups.filter(({ admitted }) => admitted).length >= 12, "the refill finds enough of them");
});

test("until_mixed: rounds go on until enough are right and wrong, and no further", async () => {
  const groups = await groupsOf("reinforce-ada", "rollout={ prompts: 8, group: 2, max_tokens: 4 }");
  for (const { rewards, indices } of groups) {
    const enough = [1, 2, 3, 4].find((rounds) => {
      const right = rewards.slice(0, 2 * rounds).filter((reward) => reward === 1).length;
      return rounds === 4 || (right >= 2 && 2 * rounds - right >= 2);
    });
    assert.equal(rewards.length, 2 * enough!, JSON.stringify(rewards));
    assert.deepEqual(indices, [...rewards.keys()]);
  }
  assert.ok(new Set(groups.map(({ rewards }) => rewards.length)).size > 1);
});
