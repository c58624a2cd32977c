/** Steps in a row in which everything failed end the run with what failed first. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { UserError } from "../../../shared/lib/errors.ts";
import { FailedSteps, type StepFailure } from "../../../server/run/loop/failedSteps.ts";

const ending = (what: StepFailure["what"]): UserError => {
  const steps = new FailedSteps();
  steps.observe(4, { what, message: "the first" });
  steps.check(2);
  steps.observe(5, { what: "reward", message: "a later one" });
  steps.check(0);
  try {
    steps.check(2);
  } catch (error) {
    if (error instanceof UserError) return error;
  }
  return assert.fail("nothing ended");
};

test("a run ends with what failed: the reward, the environment, or the program that plays", () => {
  const found = (["reward", "environment", "harness"] as const).map(ending);
  assert.deepEqual(
    found.map(({ detail, message }) => [detail.code, message]),
    [
      [
        "reward-failed",
        "The reward failed on every rollout of 2 steps in a row, so nothing was trained. First, at step 4: the first",
      ],
      [
        "episodes-failed",
        "Every episode of 2 steps in a row failed, so nothing was trained. First, at step 4: the first",
      ],
      [
        "episodes-failed",
        "The harness failed in every episode of 2 steps in a row, so nothing was trained. First, at step 4: the first",
      ],
    ],
  );
  assert.match(found[2]!.detail.action ?? "", /rollout\.command/);
});

test("a step with a reward begins the count again", () => {
  const steps = new FailedSteps();
  steps.observe(1, { what: "harness", message: "gone" });
  steps.observe(2, undefined);
  steps.observe(3, { what: "harness", message: "gone again" });
  steps.check(2);
});
