/** A reward that does not load ends `gradus run` before there is a run. */
import assert from "node:assert/strict";
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { it } from "node:test";
import { gradus } from "../../support/cli.ts";
import { pythonRunText, withoutPython } from "../../support/pythonReward.ts";
import { temporary } from "../support.ts";

it("keeps no run of a Python file that throws when it is loaded", { skip: withoutPython }, async () => {
  const folder = temporary();
  writeFileSync(join(folder, "run.gradus.yaml"), pythonRunText);
  writeFileSync(
    join(folder, "mine.py"),
    "limit = 1 / 0\n\ndef compute_score(solution_str, ground_truth):\n  return limit\n",
  );
  const { code, stdout, stderr } = await gradus(["run", "run.gradus.yaml"], folder);
  assert.deepEqual([code, stdout], [1, ""], stderr);
  assert.match(stderr, /mine\.py:1:1: error: reward term "mine": loading it threw ZeroDivisionError/);
  assert.equal(existsSync(join(folder, ".gradus")), false);
});
