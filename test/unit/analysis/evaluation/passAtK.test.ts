import assert from "node:assert/strict";
import { test } from "node:test";
import { evaluationReport } from "../../../../server/analysis/evaluation/passAtK.ts";
import { meanInterval, passAtK, passIntervals } from "../../../../shared/run/passAtK.ts";
import { near } from "../../support.ts";

/** 1 − C(n−c, k)/C(n, k) by exact integers. */
function exact(n: number, c: number, k: number): number {
  const choose = (m: number, r: number): bigint => {
    if (r > m) return 0n;
    let [over, under] = [1n, 1n];
    for (let i = 0; i < r; i++) [over, under] = [over * BigInt(m - i), under * BigInt(i + 1)];
    return over / under;
  };
  return 1 - Number((choose(n - c, k) * 10n ** 18n) / choose(n, k)) / 1e18;
}

test("pass@k is unbiased: equal to the exact binomials, c/n at k = 1, 1 when n − c < k", () => {
  for (let n = 1; n <= 20; n++)
    for (let c = 0; c <= n; c++)
      for (let k = 1; k <= n; k++)
        assert.ok(Math.abs(passAtK(n, c, k) - exact(n, c, k)) < 1e-12, `${n} ${c} ${k}`);
  assert.equal(passAtK(10, 3, 1), 0.3);
  assert.equal(passAtK(10, 8, 3), 1);
  assert.ok(near(passAtK(1000, 1, 500), 0.5));
  assert.throws(() => passAtK(4, 1, 5), /1 ≤ k ≤ n/);
});

test("the report names pass@k and greedy over all tasks and per arm; unscored samples are left out", () => {
  const { metrics, tasks } = evaluationReport(
    [
      { arm: "countdown/3", samples: [true, false, true, true], greedy: true },
      { arm: "countdown/4", samples: [false, false, false, false], greedy: false },
      { arm: "countdown/4", samples: [true, true] },
    ],
    [1, 4],
  );
  assert.equal(tasks, 3);
  assert.deepEqual(metrics, {
    "eval/pass@1": (0.75 + 0 + 1) / 3,
    "eval/pass@4": 0.5,
    "eval/greedy": 0.5,
    "eval/countdown/3/pass@1": 0.75,
    "eval/countdown/3/pass@4": 1,
    "eval/countdown/3/greedy": 1,
    "eval/countdown/4/pass@1": 0.5,
    "eval/countdown/4/pass@4": 0,
    "eval/countdown/4/greedy": 0,
  });
});

test("the interval of a mean over tasks is Wilson's where tasks are all or nothing, narrower where they are not", () => {
  const tasks = (right: number, of: number) => Array.from({ length: of }, (_, i) => (i < right ? 1 : 0));
  // Wilson's interval of 8 of 10, to three digits: 0.490 to 0.943; here of 9 trials, as the deviation divides by n − 1.
  const [low, high] = meanInterval(tasks(8, 10))!;
  assert.ok(Math.abs(low - 0.475) < 0.01 && Math.abs(high - 0.947) < 0.01, `${low} to ${high}`);
  const same = meanInterval(Array.from({ length: 10 }, (_, i) => 0.75 + 0.01 * (i % 2)))!;
  assert.ok(same[0] > 0.74 && same[1] < 0.77, "tasks that are alike say more");
  const none = meanInterval(tasks(0, 100))!;
  assert.equal(none[0], 0);
  assert.ok(Math.abs(none[1] - 0.037) < 0.001, "0 of 100 is not certainty");
  assert.equal(meanInterval([1]), undefined);
});

test("by metric: pass@k of the tasks that have k samples, and the greedy answers that could be scored", () => {
  const results = {
    tasks: ["a", "b", "c"],
    arms: ["x", "x", "x"],
    samples: [4, 4, 1],
    right: [1, 3, 1],
    greedy: [1, 0, null],
  };
  const found = passIntervals(
    ["eval/pass@1", "eval/pass@4", "eval/pass@8", "eval/greedy", "eval/tokens"],
    results,
  );
  assert.deepEqual(Object.keys(found), ["eval/pass@1", "eval/pass@4", "eval/greedy"]);
  assert.deepEqual(found["eval/pass@1"], meanInterval([0.25, 0.75, 1]));
  assert.deepEqual(found["eval/pass@4"], meanInterval([1, 1]));
});
