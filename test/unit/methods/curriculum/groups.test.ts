import assert from "node:assert/strict";
import { test } from "node:test";
import { NamedArms } from "../../../../server/methods/curriculum/armSet.ts";
import { nonzeroVariance } from "../../../../server/methods/curriculum/admission/nonzeroVariance.ts";
import { successBand } from "../../../../server/methods/curriculum/admission/successBand.ts";
import { adaptiveRefill } from "../../../../server/methods/curriculum/refill/adaptiveRefill.ts";
import { fixedRefill } from "../../../../server/methods/curriculum/refill/fixedRefill.ts";
import { meanAbsAdvantage } from "../../../../server/methods/curriculum/signals/meanAbsAdvantage.ts";
import { successRate } from "../../../../server/methods/curriculum/signals/successRate.ts";
import type { Group } from "../../../../server/core/rollouts.ts";
import { made } from "../../support.ts";
import { group } from "./support.ts";

test("signals: mean absolute advantage and success, by rollout", () => {
  const arms = new NamedArms(["a"]);
  const one = group([1, 0, 0, 1], { advantages: Float64Array.of(1, -2, -1, 2) });
  assert.deepEqual([...Array.from(made(meanAbsAdvantage, {}).measure(one, 0, arms, []))], [1, 2, 1, 2]);
  assert.deepEqual([...Array.from(made(successRate, {}).measure(one, 0, arms, []))].sort(), [0, 0, 1, 1]);
});

test("the success band includes its ends unless set otherwise, and DAPO's filter is the open unit band", () => {
  const rate = (successes: number): Group =>
    group(Array.from({ length: 10 }, (_, i) => (i < successes ? 1 : 0)));
  const admitted = (params: { low: number; high: number; inclusive?: boolean }): number[] => {
    const admission = made(successBand, params);
    return Array.from({ length: 11 }, (_, i) => i).filter((i) => admission.admit(rate(i)).admitted);
  };
  assert.deepEqual(admitted({ low: 0.2, high: 0.4 }), [2, 3, 4]);
  assert.deepEqual(admitted({ low: 0.2, high: 0.4, inclusive: false }), [3]);
  assert.deepEqual(admitted({ low: 0, high: 1, inclusive: false }), [1, 2, 3, 4, 5, 6, 7, 8, 9]);
  assert.throws(() => made(successBand, { low: 0.5, high: 0.5 }), /must be below/);
  const verdict = made(successBand, {}).admit(rate(10));
  assert.ok(!verdict.admitted && verdict.reason.includes("success rate 1 is above the band 0.2 to 0.8"));
});

test("nonzero variance rejects equal rewards and groups without any", () => {
  const admission = made(nonzeroVariance, {});
  assert.equal(admission.admit(group([0.5, 0.5, 0.5])).admitted, false);
  assert.equal(admission.admit(group([0.5, 0.5, 0.4])).admitted, true);
  assert.equal(admission.admit(group([])).admitted, false);
});

test("refills end: fixed after its rounds, adaptive at its bound even when nothing is ever admitted", () => {
  const fixed = made(fixedRefill, { rounds: 2 });
  assert.deepEqual(
    [0, 1, 2].map((round) => fixed.more({ wanted: 8, admitted: 3, drawn: 8, round })),
    [5, 5, 0],
  );
  const adaptive = made(adaptiveRefill, { factor: 4 });
  assert.equal(adaptive.more({ wanted: 8, admitted: 4, drawn: 8, round: 0 }), 8);
  assert.equal(adaptive.more({ wanted: 8, admitted: 8, drawn: 8, round: 0 }), 0);
  let [drawn, round] = [8, 0];
  for (
    let more = adaptive.more({ wanted: 8, admitted: 0, drawn, round });
    more > 0;
    more = adaptive.more({ wanted: 8, admitted: 0, drawn, round: ++round })
  )
    drawn += more;
  assert.equal(drawn, 32);
});
