/** TRACE in a whole run: each search has what it brought the answer nearer, and counts by that where all rollouts fail. */
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { ofKind, testRun } from "../../support/runFolder.ts";
import { near, temporary } from "../support.ts";

const small = [
  "steps=2",
  "model={ base: tiny, width: 16, layers: 1, heads: 2, hidden: 32, context: 4096 }",
  "rollout.prompts=2",
  "rollout.group=4",
  "rollout.max_tokens=8",
  "rollout.shape.turns=3",
  "evaluation={ every: 9, prompts: 1, pass_at: [1] }",
];

test("preset trace credits turns before the last with what they and the next earned", async () => {
  const file = join(temporary(), "run.gradus.yaml");
  writeFileSync(file, "extends: trace\n");
  const run = testRun(small, file);
  try {
    assert.equal(await run.work(), 0, run.ending());
    const rows = ofKind(run.records(), "rollout").filter(({ row }) => row.use === "train");
    assert.ok(rows.length >= 16);
    for (const { row, columns } of rows) {
      const progress = row.rewards?.["progress"];
      assert.ok(typeof progress === "object" && progress !== null);
      const [first, , second, , third] = progress.values.map(Number) as [
        number,
        number,
        number,
        number,
        number,
      ];
      assert.equal(row.rewards?.["right"], 0);
      assert.ok(first !== 0 && second !== 0);
      assert.equal(third, 0, "null: the last turn has none");
      const at = (turn: number): number => columns.advantages![row.turns![turn]!.start]!;
      assert.ok(near(at(0), (0.2 * (first + 0.8 * second)) / 1.8, 1e-5), `${at(0)}`);
      assert.ok(near(at(2), 0.2 * second, 1e-5), `${at(2)}`);
      assert.ok(near(at(4), 0, 1e-12));
    }
  } finally {
    run.remove();
  }
});
