import assert from "node:assert/strict";
import { test } from "node:test";
import { Tally } from "../../../bench/curriculum/real.ts";

const evaluation = (step: number, metrics: Record<string, number>): Parameters<Tally["take"]>[0] => ({
  ...{ type: "evaluation", step, metrics },
});

test("the lines of a run become points: what was spent so far, and success by arm", () => {
  const tally = new Tally(new Map([["practice", 8]]));
  tally.take({ type: "stage", name: "practice" });
  tally.take(evaluation(-1, { "eval/pass@1": 0.5, "eval/four/4/pass@1": 0.25, "eval/reward/total": 1 }));
  const metrics = {
    ...{ "groups/drawn": 10, "groups/admitted": 4, "groups/mixed": 0.3 },
    ...{ "tokens/generated": 100, "tokens/trained": 40, "guidance/extra_tokens": 50 },
    ...{ "time/choose": 0.5, "time/generate": 2 },
  };
  tally.take({ type: "step", step: 0, metrics });
  tally.take({ type: "step", step: 1, metrics: { ...metrics, "groups/mixed": 1, "tokens/trained": null } });
  tally.take(evaluation(1, { "eval/four/pass@1": 0.75, "eval/four/greedy": 1 }));
  tally.take({ type: "summary", status: "finished", message: null, seconds: 7 });
  assert.deepEqual(tally.points, [
    { step: 0, rollouts: 0, written: 0, trained: 0, arms: { four: 0.25 } },
    { step: 2, rollouts: 240, written: 300, trained: 40, arms: { four: 0.75 } },
  ]);
  assert.deepEqual(tally.groups, { drawn: 20, admitted: 8, mixed: 3 + 4 });
  assert.deepEqual(tally.time, { choose: 1, generate: 4 });
  assert.equal(tally.seconds, 7);
});
