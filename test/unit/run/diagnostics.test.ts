import assert from "node:assert/strict";
import { test } from "node:test";
import { metricNamed } from "../../../shared/metrics/metrics.ts";
import { measureUpdates } from "../../../server/run/step/log/measure.ts";
import { bandOf, Calibration } from "../../../server/run/step/score/calibration.ts";
import { Touched } from "../../../server/run/step/update/touched.ts";
import { spansOf } from "../../../server/core/rows/tokenSpans.ts";
import type { UpdateStats } from "../../../server/core/policy.ts";
import { batchOf, near, row } from "../support.ts";

test("the band of the first look: four standard errors of a later look above the mean, and never under what does not matter", () => {
  const rows = Array.from({ length: 128 }, (_, i) => (i % 2 === 0 ? 0.001 : 0.003));
  const band = bandOf([...rows, Number.NaN])!;
  assert.ok(near(band.mean, 0.002) && band.rows === 128);
  const deviation = Math.sqrt((128 * 1e-6) / 127);
  assert.ok(near(band.high, 0.002 + (4 * deviation) / Math.sqrt(32)));
  assert.equal(bandOf([1e-12, 3e-12])!.high, 1e-6);
  assert.equal(bandOf([Number.NaN]), undefined);
});

test("leaving the band is reported once, again after it was entered again, and goes on after a resume", () => {
  const calibration = new Calibration();
  assert.equal(calibration.compare(1), undefined);
  const first = calibration.calibrate([1e-9, 2e-9]);
  assert.equal(first?.severity, "info");
  assert.match(first?.message ?? "", /agree to 1\.5e-9 nats a token \(k3 over 2 rollouts\)/);
  assert.equal(calibration.compare(5e-7), undefined);
  const left = calibration.compare(0.02);
  assert.match(left?.message ?? "", /drifted apart: k3 is 0\.020 .* below 1\.0e-6/);
  assert.ok(left?.severity === "warning" && left.action !== undefined);
  const resumed = new Calibration();
  resumed.load(calibration.save());
  assert.equal(resumed.compare(0.03), undefined);
  assert.equal(resumed.compare(0), undefined);
  assert.equal(resumed.compare(0.03)?.name, "mismatch");
  resumed.load(new Calibration().save());
  assert.equal(resumed.band, undefined);
});

test("a sampler that is far from the trainer at the first step is an alarm of its own", () => {
  const found = new Calibration().calibrate([0.2, 0.4]);
  assert.ok(found?.severity === "warning" && /from the first step on/.test(found.message));
});

test("touched tokens of several updates come together under the rows of the step", () => {
  const batch = batchOf([row("g", 0, { logp_old: [-1, -1, -1] }), row("g", 1, { logp_old: [-1, -1] })]);
  const touched = new Touched(batch);
  const weighing = (rules: Record<string, number[]>, rows: readonly number[]): void => {
    const columns = Object.entries(rules).map(([rule, values]) => [rule, Uint8Array.from(values)] as const);
    const weigh = touched.watching(
      () => ({ loss: 0, gradients: {}, touched: Object.fromEntries(columns) }),
      rows,
    );
    assert.equal(weigh({}, batch).loss, 0);
  };
  weighing({ clip_high: [0, 1, 1, 0, 0], clip_low: [0, 0, 0, 0, 0] }, [1, 0]);
  weighing({ clip_high: [1, 0, 0] }, [0]);
  assert.deepEqual(touched.of(0), { clip_high: [[0, 1]] });
  assert.deepEqual(touched.of(1), { clip_high: [[1, 2]] });
  assert.equal(new Touched(batch).of(0), undefined);
  assert.deepEqual(
    spansOf(2, 7, (i) => i !== 4),
    [
      [0, 2],
      [3, 5],
    ],
  );
  assert.deepEqual(
    spansOf(2, 2, () => true),
    [],
  );
});

test("of several updates the extremes of extremes count, and means of the rest", () => {
  const update = (metrics: Record<string, number>): UpdateStats => ({
    loss: 1,
    grad_norm: 2,
    lr: 0.1,
    tokens: 5,
    metrics,
    mode: "staged",
  });
  const measured = measureUpdates([
    update({ "update/ratio_max": 3, "update/ratio_min": 0.5, "update/ess": 1 }),
    update({ "update/ratio_max": 2, "update/ratio_min": 0.1, "update/ess": 0.5, "update/skipped": 1 }),
  ]);
  assert.deepEqual(
    ["update/ratio_max", "update/ratio_min", "update/ess", "tokens/trained"].map((name) => measured[name]),
    [3, 0.1, 0.75, 10],
  );
  for (const name of Object.keys(measured)) assert.ok(metricNamed(name) !== undefined, name);
});
