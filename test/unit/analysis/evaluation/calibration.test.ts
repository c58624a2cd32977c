/** Calibration, against its definitions written out. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { calibration, type Claim } from "../../../../server/analysis/evaluation/calibration.ts";
import { randomStream } from "../../../../server/lib/random.ts";
import { near } from "../../support.ts";

const random = randomStream(3, "claims");
/** Right with a chance that is `shift` off what was said. */
const claims = (shift: number, n = 20_000): Claim[] =>
  Array.from({ length: n }, () => {
    const confidence = random.next();
    const chance = Math.min(1, Math.max(0, confidence - shift));
    return { confidence, right: Number(random.next() < chance) };
  });

describe("calibration", () => {
  it("finds a planted over-confidence, and none where there is none", () => {
    assert.ok(calibration(claims(0))!.ece < 0.02);
    // Below 0.2 the chance is cut at 0: ∫ of min(confidence, 0.2).
    const { ece, bins } = calibration(claims(0.2))!;
    assert.ok(Math.abs(ece - (0.2 - 0.02)) < 0.01, String(ece));
    assert.ok(bins.slice(3).every(({ confidence, accuracy }) => confidence > accuracy));
  });

  it("is what its formulas say", () => {
    const own = claims(0.1, 300);
    const { ece, brier, auroc } = calibration(own, 10)!;
    let sum = 0;
    for (let bin = 0; bin < 10; bin++) {
      const inside = own.filter(
        ({ confidence }) => confidence >= bin / 10 && (confidence < (bin + 1) / 10 || bin === 9),
      );
      const total = (of: (claim: Claim) => number): number => inside.reduce((all, one) => all + of(one), 0);
      sum += Math.abs(total(({ right }) => right) - total(({ confidence }) => confidence));
    }
    assert.ok(near(ece, sum / own.length));
    assert.ok(near(brier, own.reduce((all, one) => all + (one.confidence - one.right) ** 2, 0) / 300));
    let [won, pairs] = [0, 0];
    for (const good of own.filter(({ right }) => right === 1))
      for (const bad of own.filter(({ right }) => right === 0)) {
        pairs++;
        won += good.confidence > bad.confidence ? 1 : good.confidence === bad.confidence ? 0.5 : 0;
      }
    assert.ok(near(auroc!, won / pairs));
  });

  it("counts ties by half, and says nothing of an order where all are right", () => {
    const same = [1, 0, 1].map((right) => ({ confidence: 0.7, right }));
    assert.equal(calibration(same)!.auroc, 0.5);
    assert.equal(calibration([{ confidence: 1, right: 1 }])!.auroc, null);
    assert.equal(calibration([]), undefined);
  });
});
