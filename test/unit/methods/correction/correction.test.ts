import assert from "node:assert/strict";
import { test } from "node:test";
import { mask } from "../../../../server/methods/correction/mask.ts";
import { reject } from "../../../../server/methods/correction/reject.ts";
import { truncate } from "../../../../server/methods/correction/truncate.ts";
import type { CorrectionInput } from "../../../../server/core/slots/correction.ts";
import { UserError } from "../../../../shared/lib/errors.ts";
import { batchOf, made, near, row } from "../../support.ts";

/** Two rollouts of three and two tokens; the ratios old / sampled are 2, 1, ½ and 3, 1. */
const logs = [Math.log(2), 0, Math.log(0.5), Math.log(3), 0];
const sampled = [-1, -1, -1, -1, -1];
const batch = batchOf([
  row("g", 0, { tokens: [1, 1, 1], logp_sampled: sampled.slice(0, 3) }),
  row("g", 1, { tokens: [1, 1], logp_sampled: sampled.slice(3) }),
]);
const input: CorrectionInput = {
  batch,
  now: { logp: Float64Array.from(sampled, (value) => value + 1) },
  old: { logp: Float64Array.from(logs, (log) => log - 1) },
  advantages: new Float64Array(5).fill(1),
  weights: new Float64Array(5).fill(1),
};
const close = (actual: Float64Array | undefined, expected: readonly number[]): void =>
  expected.forEach((value, i) => assert.ok(near(actual?.[i], value), `${actual?.[i]} at ${i}, not ${value}`));

test("truncation holds each token's ratio, or that of the response, between its bounds", () => {
  close(made(truncate, { high: 1.5 }).correct(input).factors, [1.5, 1, 0.5, 1.5, 1]);
  close(made(truncate, { high: 1.5, low: 0.8 }).correct(input).factors, [1.5, 1, 0.8, 1.5, 1]);
  close(made(truncate, { level: "sequence", high: 2 }).correct(input).factors, [1, 1, 1, 2, 2]);
  close(made(truncate, { level: "sequence_mean", high: 9 }).correct(input).factors, [
    1,
    1,
    1,
    Math.sqrt(3),
    Math.sqrt(3),
  ]);
  const { metrics, touched } = made(truncate, { high: 1.5 }).correct(input);
  assert.equal(metrics?.["correction/bounded"], 2 / 5);
  assert.deepEqual([...(touched?.["truncate"] ?? [])], [1, 0, 0, 1, 0]);
});

test("normalised weights have mean 1, over tokens or over responses", () => {
  const tokens = made(truncate, { high: null, normalise: true }).correct(input).factors!;
  assert.ok(near(tokens.reduce((sum, value) => sum + value, 0) / 5, 1));
  const rows = made(truncate, { high: null, level: "sequence", normalise: true }).correct(input).factors!;
  assert.ok(near((rows[0]! + rows[3]!) / 2, 1));
});

test("a mask drops what is out of bounds, and weighs the rest by the ratio", () => {
  close(made(mask, { low: 0.6, high: 2.5 }).correct(input).factors, [2, 1, 0, 0, 1]);
  close(made(mask, { level: "sequence", low: 0.5, high: 2 }).correct(input).factors, [1, 1, 1, 0, 0]);
  close(
    made(mask, { level: "sequence_mean", weight: "token", low: 0.9, high: 1.1 }).correct(input).factors,
    [2, 1, 0.5, 0, 0],
  );
});

test("a mask by divergence of the token's probability: binary KL and total variation, of the token or the response", () => {
  const e = Math.exp(-1);
  const tv = [e, 0, e / 2, 1 - e - 1e-6, 0];
  const kept = made(mask, { statistic: "tv", low: null, high: 0.3 }).correct(input).factors;
  tv.forEach((value, i) => assert.equal(kept?.[i] === 0, value > 0.3));
  const mean = made(mask, { statistic: "tv", level: "sequence_mean", low: null, high: 0.2 }).correct(input);
  close(mean.factors, [2, 1, 0.5, 0, 0]);
  const q = e / 2;
  const kl = e * Math.log(e / q) + (1 - e) * Math.log((1 - e) / (1 - q));
  for (const [high, kept] of [
    [kl + 1e-9, 0.5],
    [kl - 1e-9, 0],
  ] as const)
    assert.ok(
      near(made(mask, { statistic: "binary_kl", low: null, high }).correct(input).factors?.[2], kept),
    );
});

test("rejection takes tokens, or whole responses, out of the step", () => {
  const kept = (params: Parameters<typeof made<"correction", typeof reject.params>>[1]): number[] => [
    ...(made(reject, params).correct(input).kept ?? []),
  ];
  // k1 is log sampled / old: its bounds are ratios the other way round.
  assert.deepEqual(kept({ low: 0.49, high: 2.01 }), [1, 1, 1, 0, 1]);
  assert.deepEqual(kept({ high: 1.9 }), [0, 1, 0, 0, 1]);
  assert.deepEqual(kept({ estimator: "k2", high: 0.3 }), [1, 1, 1, 0, 1]);
  assert.deepEqual(kept({ estimator: "k2", level: "sequence_sum", high: 0.5 }), [1, 1, 1, 0, 0]);
  assert.deepEqual(kept({ estimator: "k3", level: "sequence_mean", high: 0.2 }), [1, 1, 1, 0, 0]);
  assert.deepEqual(kept({ estimator: "k3", level: "sequence_max", high: 0.32 }), [1, 1, 1, 0, 0]);
});

test("tokens of weight 0 count nowhere; those without a sampler's log-prob are not corrected", () => {
  const weights = Float64Array.of(1, 0, 1, 1, 0);
  const factors = made(truncate, { level: "sequence", high: null }).correct({ ...input, weights }).factors;
  assert.ok(near(factors?.[0], 1) && near(factors?.[3], 3));
  const unknown = batchOf([
    row("g", 0, { tokens: [1, 1, 1], logp_sampled: [-1, null, -1] }),
    row("g", 1, { tokens: [1, 1] }),
  ]);
  close(made(truncate, { high: null }).correct({ ...input, batch: unknown }).factors, [2, 1, 0.5, 1, 1]);
});

test("what is missing is named; ratios beyond all numbers are an error", () => {
  const bare = batchOf([row("g", 0, { tokens: [1, 1, 1] }), row("g", 1, { tokens: [1, 1] })]);
  assert.throws(() => made(truncate, {}).correct({ ...input, batch: bare }), /logp_sampled/);
  assert.throws(
    () => made(truncate, { numerator: "proximal" }).correct(input),
    (error: unknown) => error instanceof UserError && error.message.includes("proximal"),
  );
  assert.deepEqual(made(truncate, { numerator: "proximal" }).models, ["proximal"]);
  const far = { ...input, old: { logp: new Float64Array(5).fill(5000) } };
  assert.throws(() => made(truncate, { high: null }).correct(far), UserError);
  assert.ok(
    made(truncate, { high: null, clamp_log_ratio: 20 })
      .correct(far)
      .factors?.every((factor) => near(factor, Math.exp(20))),
  );
});
