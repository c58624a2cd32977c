/** The estimator `pooled_beta` compared with the formula that its page prints. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { pooledBeta } from "../../../server/methods/curriculum/estimators/pooledBeta.ts";
import { observed } from "../methods/curriculum/support.ts";
import { made, near } from "../support.ts";

type Counts = readonly [successes: number, rollouts: number];

/** Of the arms observed, one of which has these counts; [0, 0]: it was never drawn. */
function printed(arms: readonly Counts[], [successes, rollouts]: Counts): number {
  const rates = arms.map(([right, of]) => right / of);
  const total = rates.reduce((a, b) => a + b, 0);
  const m = (total + 0.5) / (arms.length + 1);
  const average = total / arms.length;
  const h = arms.reduce((sum, [, of]) => sum + 1 / of, 0) / arms.length;
  let worth = 2;
  if (arms.length >= 3 && average > 0 && average < 1 && h < 1) {
    const variance = rates.reduce((sum, p) => sum + (p - average) ** 2, 0) / (arms.length - 1);
    const gamma = (variance / (average * (1 - average)) - h) / (1 - h);
    worth = gamma <= 0 ? 1000 : Math.min(1000, Math.max(1, 1 / gamma - 1));
  }
  return (m * worth + successes) / (worth + rollouts);
}

const cases: Readonly<Record<string, readonly Counts[]>> = {
  "arms apart": [
    [1, 8],
    [4, 8],
    [7, 8],
    [3, 16],
  ],
  "arms nearly alike": [
    [4, 8],
    [5, 8],
    [4, 8],
  ],
  "arms as far apart as can be": [
    [0, 8],
    [8, 8],
    [0, 8],
    [8, 8],
  ],
  "two arms": [
    [1, 8],
    [6, 8],
  ],
  "all wrong": [
    [0, 8],
    [0, 8],
    [0, 8],
  ],
  "one rollout each": [
    [0, 1],
    [1, 1],
    [0, 1],
    [1, 1],
  ],
  nothing: [],
};
for (const [name, arms] of Object.entries(cases))
  test(`pooled_beta, ${name}: the estimates of the printed formula`, () => {
    const estimator = made(pooledBeta, {});
    arms.forEach(([right, of], arm) =>
      estimator.observe(observed(arm, ...Array.from({ length: of }, (_, i) => Number(i < right))), 0),
    );
    estimator.endStep?.();
    [...arms, [0, 0] as const].forEach((counts, arm) => {
      const [found, wanted] = [estimator.estimate(arm), printed(arms, counts)];
      assert.ok(near(found, wanted, 1e-9), `arm ${arm}: ${found} is not ${wanted}`);
    });
  });
