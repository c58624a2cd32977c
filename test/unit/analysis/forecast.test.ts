/** Forecasts, against curves that are known. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { forecast, type ForecastPoint } from "../../../shared/run/forecast.ts";
import { runForecast } from "../../../server/analysis/forecast/runForecast.ts";
import { normal } from "../../../server/lib/distributions.ts";
import { randomStream } from "../../../server/lib/random.ts";
import { count } from "../../support/thorough.ts";

const random = randomStream(1, "curves");
interface Curve {
  readonly start: number;
  readonly asymptote: number;
  readonly efficiency: number;
  readonly midpoint: number;
}
/** R₀ + (A − R₀)/(1 + (C_mid/C)^B) */
const valueAt = ({ start, asymptote, efficiency, midpoint }: Curve, x: number): number =>
  start + (asymptote - start) / (1 + (midpoint / x) ** efficiency);
const drawn = (curve: Curve, steps: number, noise: number): ForecastPoint[] =>
  Array.from({ length: steps }, (_, i) => ({
    x: i + 1,
    y: Math.min(1, Math.max(0, valueAt(curve, i + 1) + noise * normal(random))),
  }));

describe("a forecast", () => {
  const curve: Curve = { start: 0.05, asymptote: 0.72, efficiency: 2, midpoint: 80 };

  it("finds a planted curve that has bent", () => {
    const found = forecast(drawn(curve, 400, 0.02), [0, 1])!;
    const inside = ({ low, high }: { low: number; high: number }, value: number, margin: number): boolean =>
      low - margin <= value && value <= high + margin;
    assert.ok(inside(found.asymptote, 0.72, 0.01), JSON.stringify(found.asymptote));
    assert.ok(inside(found.midpoint, 80, 4), JSON.stringify(found.midpoint));
    assert.ok(inside(found.efficiency, 2, 0.2), JSON.stringify(found.efficiency));
    assert.ok(found.asymptote.high - found.asymptote.low < 0.05);
    const gain = valueAt(curve, 800) - valueAt(curve, 400);
    assert.ok(Math.abs(found.gain(400, 800).middle - gain) < 0.01);
  });

  it("is as wide as it has to be where the curve has hardly begun", () => {
    const found = forecast(drawn(curve, 30, 0.03), [0, 1])!;
    assert.ok(found.asymptote.high - found.asymptote.low > 0.4, JSON.stringify(found.asymptote));
  });

  it("has the end of a curve in its band as often as it says", () => {
    const runs = count(40, 120);
    let inside = 0;
    for (let run = 0; run < runs; run++) {
      const own: Curve = {
        start: 0.1 * random.next(),
        asymptote: 0.2 + 0.7 * random.next(),
        efficiency: 1 + 2 * random.next(),
        midpoint: 20 + 300 * random.next(),
      };
      const { low, high } = forecast(drawn(own, 100, 0.05), [0, 1])!.at(400);
      const end = valueAt(own, 400);
      if (low <= end && end <= high) inside++;
    }
    // Within three standard errors of 80 %.
    assert.ok(Math.abs(inside / runs - 0.8) < 3 * Math.sqrt((0.8 * 0.2) / runs), `${inside} of ${runs}`);
  });

  it("tells which of two runs ends higher", () => {
    const better = forecast(drawn({ ...curve, asymptote: 0.9 }, 300, 0.02), [0, 1])!;
    const worse = forecast(drawn({ ...curve, midpoint: 20 }, 300, 0.02), [0, 1])!;
    assert.ok(better.above(worse) > 0.99);
    assert.ok(Math.abs(better.above(worse) + worse.above(better) - 1) < 1e-9);
    assert.ok(worse.midpoint.high < better.midpoint.low, "the worse one is the faster");
  });

  it("says nothing of a handful of points, or of a flat line", () => {
    assert.equal(forecast(drawn(curve, 5, 0.02), [0, 1]), undefined);
    assert.equal(
      forecast(
        Array.from({ length: 20 }, (_, i) => ({ x: i + 1, y: 0.5 })),
        [0, 1],
      ),
      undefined,
    );
  });
});

describe("a run's forecast", () => {
  const points = drawn({ start: 0, asymptote: 0.6, efficiency: 2, midpoint: 40 }, 100, 0.02);
  // Values begin after a warm-up of 300 steps, and one is not finite.
  const steps = points.map(({ x }) => 299 + x);
  const values = points.map(({ y }, i) => (i === 50 ? null : y));

  it("counts the steps that have the score, and says what more of them bring and take", () => {
    const ask = { metric: "reward/correct", steps, values, seconds: [1.9, 2.1], left: 40 };
    const found = runForecast(ask)!;
    assert.deepEqual([found.made, found.planned?.steps, found.further.steps], [100, 40, 100]);
    assert.equal(found.further.seconds, 200);
    assert.ok(Math.abs(found.further.gain.middle - (0.6 / (1 + 0.2 ** 2) - 0.6 / (1 + 0.4 ** 2))) < 0.02);
    assert.equal(runForecast({ ...ask, left: 0, more: 7 })!.further.steps, 7);
    assert.equal(runForecast({ ...ask, left: 0, seconds: [] })!.planned, null);
  });

  it("keeps the asymptote of a share within 0 and 1, and lets others go beyond what was seen", () => {
    const ask = { metric: "score", seconds: [], left: 0 };
    const share = runForecast({ ...ask, steps: steps.slice(0, 40), values: values.slice(0, 40) })!;
    assert.ok(share.asymptote.high <= 1);
    const points20 = values.slice(0, 40).map((value) => (value === null ? null : 20 * value - 3));
    const open = runForecast({ ...ask, steps: steps.slice(0, 40), values: points20 })!;
    assert.ok(open.asymptote.high > 9 - 3);
  });
});
