/** Routes: which rollouts move which loss, by what denominators, and that nothing else changes. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { Algorithm, contextOf } from "../../../../server/algorithm/algorithm.ts";
import type { Advantages } from "../../../../server/algorithm/advantages/tokenAdvantages.ts";
import { places } from "../../../../server/algorithm/loss/routes.ts";
import type { StageBody } from "../../../../server/core/config/resolved.ts";
import { randomStream } from "../../../../server/lib/random.ts";
import type { Batch } from "../../../../server/core/rollouts.ts";
import type { Weighed } from "../../../../server/core/policy.ts";
import { batchOf, type RowSpec } from "../../../support/batch.ts";
import { configOf, near } from "../../support.ts";

const clock = { step: 0, stageStep: 0 };
const bodyOf = (text: string): StageBody =>
  configOf(`tasks: [{ env: arithmetic }]\nreward: { terms: { correct: numeric } }\n${text}`).top;
const algorithmOf = (body: StageBody): Algorithm =>
  new Algorithm(body, contextOf(body, { random: randomStream(1) }));

/** Group a: right, wrong, wrong and cut off; group b: both wrong. */
const specs: readonly RowSpec[] = [
  { context: [1], tokens: [2, 3], group: 0, record: { shown: {} } },
  { context: [1], tokens: [2, 3, 4], group: 0, record: { shown: { sibling: "6" } } },
  { context: [1], tokens: [2], group: 0, record: { finish: "length", shown: { sibling: "6" } } },
  { context: [1], tokens: [2, 3], group: 1 },
  { context: [1], tokens: [2, 3], group: 1, record: { source: "guided" } },
];
const batch: Batch = batchOf(specs);
const success = Uint8Array.of(1, 0, 0, 0, 0);
const rows = Float64Array.of(1, -0.5, -0.5, 0, 0);
const size = batch.tokens.length;
const ofTokens = (perRow: Float64Array): Float64Array =>
  Float64Array.from(
    { length: size },
    (_, i) => perRow[batch.offsets.findLastIndex((offset) => offset <= i)]!,
  );
const advantages: Advantages = {
  tokens: ofTokens(rows),
  rows,
  exists: new Uint8Array(size).fill(1),
};

const routed = (rules: string): string[] => {
  const body = bodyOf(
    `route: ${rules}\nobjective: { also: [{ use: dpo, of: pair }] }\nkl: [{ mask: distilled, estimator: k2 }]`,
  );
  return [...algorithmOf(body).routes(batch, success, advantages)!].map((place) => places[place]!);
};

test("the first rule whose conditions hold decides, and the objective takes the rest", () => {
  assert.deepEqual(routed("[{ when: wrong, to: distil }]"), [
    "policy",
    "distil",
    "distil",
    "distil",
    "distil",
  ]);
  assert.deepEqual(
    routed(
      "[{ when: overlong, to: mask }, { when: [wrong, sibling], to: distil }, { when: all_wrong, to: drop }]",
    ),
    ["policy", "distil", "mask", "drop", "drop"],
  );
  assert.deepEqual(routed("[{ when: { not: positive }, to: drop }]"), [
    "policy",
    "drop",
    "drop",
    "drop",
    "drop",
  ]);
  assert.deepEqual(routed("[{ when: zero, to: drop }, { when: mixed, to: pair }]"), [
    "pair",
    "pair",
    "pair",
    "drop",
    "drop",
  ]);
  assert.deepEqual(routed("[{ when: helped, to: mask }]"), ["policy", "policy", "policy", "policy", "mask"]);
  assert.deepEqual(routed("[{ when: { field: hint }, to: mask }]"), [
    "policy",
    "policy",
    "policy",
    "policy",
    "policy",
  ]);
});

const now = Float64Array.from({ length: size }, (_, i) => -0.3 - 0.1 * i);
const teacher = Float64Array.from({ length: size }, (_, i) => -0.6 - 0.05 * i);
const entropy = Float64Array.from({ length: size }, (_, i) => 0.2 + 0.15 * (i % 4));

function weighed(body: StageBody, divergence?: Float64Array): Weighed {
  const algorithm = algorithmOf(body);
  const routes = algorithm.routes(batch, success, advantages);
  const scored = {
    combined: { sources: [], total: Float64Array.from(success), errored: new Uint8Array(batch.rows) },
    success,
  };
  return algorithm.weigh(
    {
      old: {
        logp: now,
        "logp:teacher": teacher,
        "logp:teacher@sibling": teacher,
        "entropy:teacher@sibling": entropy,
        "logp:reference": teacher,
      },
      advantages: advantages.tokens,
      weights: new Float64Array(size).fill(1),
      scored,
      routes,
    },
    clock,
  )({ logp: now, ...(divergence && { "kl:teacher@sibling:reverse": divergence }) }, batch);
}

test("SRPO: failed rollouts with a correct sibling by the weighed divergence, the others by GRPO, over one count of tokens", () => {
  const body = bodyOf("extends: srpo");
  const divergence = Float64Array.from({ length: size }, (_, i) => 0.1 * (i + 1));
  const { loss, gradients, metrics, touched } = weighed(body, divergence);
  const distilled = [2, 3, 4, 5];
  const raw = distilled.map((i) => Math.exp(-entropy[i]!));
  const mean = raw.reduce((sum, one) => sum + one, 0) / raw.length;
  const weights = raw.map((one) => one / mean);
  assert.ok(near(weights.reduce((sum, one) => sum + one, 0) / 4, 1));
  const expected = distilled.reduce(
    (sum, i, n) => sum + (weights[n]! * divergence[i]!) / size,
    (-1 * 2) / size,
  );
  assert.ok(near(loss, expected), `${loss} ${expected}`);
  for (let i = 0; i < size; i++) {
    const n = distilled.indexOf(i);
    assert.ok(near(gradients["kl:teacher@sibling:reverse"]![i], n < 0 ? 0 : weights[n]! / size));
    assert.ok(near(gradients.logp![i], i < 2 ? -1 / size : 0), "wrong and distilled, or of advantage 0");
  }
  assert.equal(metrics!["route/distil"], 2 / 5);
  assert.deepEqual([...touched!["route: distil"]!], [0, 0, 1, 1, 1, 1, 0, 0, 0, 0]);
});

test("what no model was shown anything for stays with the objective", () => {
  const bare = { ...batch, records: batch.records.map(({ shown: _, ...record }) => record) };
  const algorithm = algorithmOf(bodyOf("extends: srpo"));
  assert.ok(algorithm.routes(bare, success, advantages)!.every((place) => place === 0));
});

test("a masked rollout stays a row of the normaliser, a dropped one does not", () => {
  const body = (to: string): StageBody =>
    bodyOf(
      `objective: { use: reinforce, aggregate: { use: sequence_mean, empty_rows: count } }\nroute: [{ when: all_wrong, to: ${to} }]`,
    );
  assert.ok(near(weighed(body("mask")).gradients.logp![0], -1 / 2 / 5));
  assert.ok(near(weighed(body("drop")).gradients.logp![0], -1 / 2 / 3));
  for (const to of ["mask", "drop"])
    assert.deepEqual([...weighed(body(to)).gradients.logp!.subarray(6)].map(Math.abs), [0, 0, 0, 0]);
});

test("pairs are made of what goes to them, and the objective does not see it", () => {
  const base =
    "objective: { use: reinforce, aggregate: token_sum, also: [{ use: dpo, of: pair, beta: 0.1, anchor: reference, pairs: best_worst }] }\nroute: ";
  const pairs = weighed(bodyOf(`${base}[{ when: mixed, to: pair }]`)).gradients.logp!;
  const alone = weighed(
    bodyOf(
      "objective: { use: dpo, beta: 0.1, anchor: reference, pairs: best_worst, aggregate: token_sum }\nroute: [{ when: all_wrong, to: mask }]",
    ),
  ).gradients.logp!;
  assert.ok(pairs.some((value) => value !== 0));
  pairs.forEach((value, i) => assert.ok(near(value, alone[i]!), `${i}: ${value} ${alone[i]}`));
  const none = weighed(bodyOf(`${base}[]`)).gradients.logp!;
  assert.ok(none[0]! < 0);
});

test("A-LoL's filter: nothing with an advantage that is not positive trains", () => {
  const { gradients } = weighed(
    bodyOf(
      "objective: { use: reinforce, aggregate: token_mean }\nroute: [{ when: { not: positive }, to: drop }]",
    ),
  );
  assert.deepEqual(
    [...gradients.logp!].map((value) => Math.round(value * 1e6) / 1e6 + 0),
    [-0.5, -0.5, 0, 0, 0, 0, 0, 0, 0, 0],
  );
});
