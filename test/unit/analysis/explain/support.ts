/** What tests of `gradus explain` share: rows written to a file, read back and explained. */
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { writeRollout, type RolloutRow } from "../../../../shared/rollouts/rollouts.ts";
import {
  explain,
  type ExplainedRollout,
  type ExplainedStep,
} from "../../../../server/analysis/explain/explain.ts";
import { readRollouts } from "../../../../server/analysis/recorded.ts";
import { configOf, near, temporary } from "../../support.ts";

export async function explained(
  text: string,
  rows: readonly (RolloutRow | string)[],
): Promise<{ rollouts: ExplainedRollout[]; steps: ExplainedStep[]; order: string[] }> {
  const file = join(temporary(), "rollouts.jsonl");
  writeFileSync(
    file,
    rows.map((row) => (typeof row === "string" ? row : writeRollout(row))).join("\n") + "\n",
  );
  const config = configOf(`tasks: [{ env: countdown }, { env: arithmetic }]\n${text}`, undefined, true);
  const all = [...explain(config, await readRollouts(file))];
  return {
    rollouts: all.flatMap((line) => (line.type === "rollout" ? [line] : [])),
    steps: all.flatMap((line) => (line.type === "summary" ? [line] : [])),
    order: all.map((line) => (line.type === "rollout" ? `${line.group}#${line.index}` : `step ${line.step}`)),
  };
}

export const close = (actual: readonly unknown[], expected: readonly number[], tolerance = 1e-12): void => {
  assert.equal(actual.length, expected.length);
  actual.forEach((value, i) =>
    assert.ok(
      near(Number(value), expected[i]!, tolerance),
      `${JSON.stringify(actual)} is not ${JSON.stringify(expected)}`,
    ),
  );
};

/** A config's one reward term, whose values the rows record. */
export const oneTerm = "reward: { terms: { right: { use: equation } } }\n";

/** A rollout of two tokens with that term's reward. */
export const paidRow = (
  group: string,
  index: number,
  reward: number | null,
  more: Partial<RolloutRow> = {},
): RolloutRow => ({ step: 0, group, index, rewards: { right: reward }, logp_new: [-1, -2], ...more });
