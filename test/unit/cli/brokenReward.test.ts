/** A reward that does not load ends `gradus run` before there is a run. */
import assert from "node:assert/strict";
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { it } from "node:test";
import { gradus } from "../../support/cli.ts";
import { pythonRunText, withoutPython } from "../../support/pythonReward.ts";
import { temporary } from "../support.ts";

it("keeps no run of a Python file with a syntax error", { skip: withoutPython }, async () => {
  const folder = temporary();
  writeFileSync(join(folder, "run.gradus.yaml"), pythonRunText);
  writeFileSync(join(folder, "mine.py"), "def compute_score(solution_str, ground_truth):\n  return (1\n");
  const { code, stdout, stderr } = await gradus(["run", "run.gradus.yaml"], folder);
  assert.deepEqual([code, stdout], [1, ""], stderr);
  assert.match(stderr, /mine\.py:2:\d+: error: reward term "mine": it does not parse/);
  assert.equal(existsSync(join(folder, ".gradus")), false);
});
