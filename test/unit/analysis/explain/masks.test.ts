/** Masks through `gradus explain`. */
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { writeRollout, type RolloutRow } from "../../../../shared/rollouts/rollouts.ts";
import { explain, type ExplainedRollout } from "../../../../server/analysis/explain/explain.ts";
import { readRollouts } from "../../../../server/analysis/recorded.ts";
import { configOf, temporary } from "../../support.ts";

async function explained(
  text: string,
  rows: readonly RolloutRow[],
): Promise<{ rollouts: ExplainedRollout[]; order: string[] }> {
  const file = join(temporary(), "rollouts.jsonl");
  writeFileSync(file, rows.map(writeRollout).join("\n"));
  const all = [...explain(configOf(`tasks: [{ env: countdown }]\n${text}`), await readRollouts(file))];
  return {
    rollouts: all.flatMap((line) => (line.type === "rollout" ? [line] : [])),
    order: all.map((line) => (line.type === "rollout" ? `${line.group}#${line.index}` : `step ${line.step}`)),
  };
}

test("masks of the loss leave the normaliser and the KL term, and replayed rows are left out", async () => {
  const common =
    "reward: { terms: { r: { use: exact_match } } }\nadvantage: { baseline: none, scale: none }\n";
  const rows: RolloutRow[] = [1, -1].map((r, index) => ({
    step: 0,
    group: "a",
    index,
    rewards: { r },
    logp_old: [-1, -1],
    logp_new: [-1, -3],
    logp_ref: [-1, -3],
    entropy: index === 0 ? [0, 1] : [2, 3],
  }));
  const text = `${common}objective: { use: reinforce, aggregate: token_mean }\nkl: [{ model: reference, estimator: k2, coefficient: 1 }]\n`;
  const top = await explained(`${text}mask: [{ use: top_entropy, share: 0.5 }]\n`, rows);
  // The quantile of 0, 1, 2, 3 is 1.5: the first rollout does not move; four tokens are counted.
  assert.deepEqual(
    top.rollouts.map(({ grad_logp }) => grad_logp?.map(Number)),
    [
      [0, 0],
      [0.25, 0.25],
    ],
  );
  assert.deepEqual(
    top.rollouts.map(({ weights }) => weights),
    [
      [1, 1],
      [1, 1],
    ],
  );
  const kept = await explained(`${text}mask: [{ use: top_entropy, share: 0.5, normaliser: kept }]\n`, rows);
  assert.deepEqual(kept.rollouts[1]!.grad_logp?.map(Number), [0.5, 0.5]);
  // Mean log-ratio of generation to now is (0 + 2) / 2 = 1 in both; only the one of negative advantage goes.
  const drifted = await explained(`${text}mask: [{ use: off_policy_sequence, threshold: 0.5 }]\n`, rows);
  assert.deepEqual(
    drifted.rollouts.map(({ grad_logp }) => grad_logp?.map(Number)),
    [
      [-0.25, -0.25],
      [0, 0],
    ],
  );
  const replayed = await explained(text, [...rows, { ...rows[0]!, index: 2, source: "replay" }]);
  assert.deepEqual(replayed.order, ["a#0", "a#1", "step 0"]);
  const { entropy: _, ...bare } = rows[0]!;
  await assert.rejects(explained(`${text}mask: [top_entropy]\n`, [bare]), /entropy/);
});
