import assert from "node:assert/strict";
import { test } from "node:test";
import { evaluationReport, passAtK } from "../../../../server/analysis/evaluation/passAtK.ts";
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
