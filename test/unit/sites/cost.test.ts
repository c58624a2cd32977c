/** The estimate before a launch. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { costLines, estimateCost, tookText, type CostAsk } from "../../../server/sites/cost.ts";

const ask: CostAsk = {
  steps: 1000,
  // The first step compiles.
  measured: [90, 10, 11, 12, 13, 14, 15, 16, 17, 18, 20],
  by: "gsm-1",
  gpus: 8,
  price: { gpu_hour: 2.5, currency: "EUR" },
  mostTokens: 8 * 16 * 1024,
  tokens: 50_000,
};

describe("the cost of a run", () => {
  it("is steps times a step's quantiles, without the first step", () => {
    const { seconds, gpuHours, money } = estimateCost(ask);
    assert.deepEqual(seconds, { low: 10_900, middle: 14_500, high: 18_200 });
    assert.equal(gpuHours!.middle.toFixed(4), ((14_500 * 8) / 3600).toFixed(4));
    assert.equal(money!.high.toFixed(4), ((18_200 * 8 * 2.5) / 3600).toFixed(4));
  });

  it("is said in round numbers with its band", () =>
    assert.deepEqual(costLines(estimateCost(ask)), [
      "1000 steps, about 50 M tokens (at most 130 M)",
      "3 to 5.1 h, 24 to 40 GPU hours, 61 to 100 EUR, by the steps of gsm-1",
    ]));

  it("is not made up where nothing was measured, or nothing has a price", () => {
    const none = estimateCost({ ...ask, measured: [12, 13], by: undefined, tokens: undefined });
    assert.deepEqual([none.seconds, none.gpuHours, none.money], [null, null, null]);
    assert.match(costLines(none)[1]!, /^no step was measured on this site yet/);
    assert.equal(costLines(none)[0], "1000 steps, at most 130 M tokens");
    const free = estimateCost({ ...ask, price: undefined, gpus: 0 });
    assert.deepEqual([free.gpuHours, free.money], [null, null]);
    assert.match(costLines(free)[1]!, /^3 to 5\.1 h, by the steps of gsm-1$/);
  });

  it("is compared with what the run took", () => {
    assert.equal(
      tookText(14_400, ask, { low: 10_900, high: 18_200 }),
      "4 h, 32 GPU hours, 80 EUR; expected 3 to 5.1 h",
    );
    assert.equal(tookText(57, { gpus: 0, price: undefined }, undefined), "57 s");
  });
});
