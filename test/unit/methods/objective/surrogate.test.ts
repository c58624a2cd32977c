import assert from "node:assert/strict";
import { test } from "node:test";
import { Algorithm, contextOf } from "../../../../server/algorithm/algorithm.ts";
import { cispo } from "../../../../server/methods/objective/surrogates/cispo.ts";
import { clipped } from "../../../../server/methods/objective/surrogates/clipped.ts";
import { clipCov } from "../../../../server/methods/objective/surrogates/clipCov.ts";
import { covarianceOf, largest } from "../../../../server/methods/objective/surrogates/covariance.ts";
import { geoMean } from "../../../../server/methods/objective/surrogates/geoMean.ts";
import { klCov } from "../../../../server/methods/objective/surrogates/klCov.ts";
import { reinforce } from "../../../../server/methods/objective/surrogates/reinforce.ts";
import { bound, secondMoment } from "../../../../server/methods/objective/surrogates/secondMoment.ts";
import { promptMean } from "../../../../server/methods/objective/aggregates/promptMean.ts";
import { sequenceSum } from "../../../../server/methods/objective/aggregates/sequenceSum.ts";
import { sequenceSumNorm } from "../../../../server/methods/objective/aggregates/sequenceSumNorm.ts";
import { tokenBudget } from "../../../../server/methods/objective/aggregates/tokenBudget.ts";
import { tokenSum } from "../../../../server/methods/objective/aggregates/tokenSum.ts";
import { vespo } from "../../../../server/methods/objective/surrogates/vespo.ts";
import { randomStream } from "../../../../server/lib/random.ts";
import type { Weighed } from "../../../../server/core/policy.ts";
import type { ObjectiveInput } from "../../../../server/core/loss.ts";
import { UserError } from "../../../../shared/lib/errors.ts";
import { batchOf, configOf, made, near, row } from "../../support.ts";
import { factorsOf, randomInput } from "./differences.ts";

const clock = { step: 0, stageStep: 0 };
const batch = batchOf([3, 2, 0, 1].map((length, i) => row("g", i, { tokens: Array(length).fill(1) })));
const old = Float64Array.of(-1, -1.5, -0.7, -2, -1.2, -0.9);
const ratios = [1.5, 0.5, 1.1, 0.7, 3, 1];
const input: ObjectiveInput = {
  batch,
  now: { logp: old.map((value, i) => value + Math.log(ratios[i]!)) },
  old: { logp: old },
  advantages: Float64Array.of(1, 1, 1, -2, -2, 0.5),
  weights: new Float64Array(6).fill(1),
  factors: new Float64Array(6).fill(1),
};
const gradient = ({ gradients }: Weighed): number[] => [...(gradients.logp ?? [])];
const close = (actual: readonly number[], expected: readonly number[]): void =>
  expected.forEach((value, i) =>
    assert.ok(near(actual[i], value, 1e-10), `${actual[i]} at ${i}, not ${value}`),
  );

test("aggregates: sums over rollouts, tokens or a budget; empty rows count or not", () => {
  const weights = Float64Array.of(1, 0, 1, 1, 0.5, 0);
  assert.deepEqual(
    [...factorsOf(made(sequenceSum, {}), weights, batch)],
    [...weights.map((value) => value / 2)],
  );
  assert.deepEqual(
    [...factorsOf(made(sequenceSum, { empty_rows: "count" }), weights, batch)],
    [...weights.map((value) => value / 4)],
  );
  close(
    [...factorsOf(made(sequenceSumNorm, { budget: 5, empty_rows: "skip" }), weights, batch)],
    [...weights.map((value) => value / 10)],
  );
  assert.deepEqual([...factorsOf(made(tokenSum, {}), weights, batch)], [...weights]);
  close(
    [...factorsOf(made(tokenBudget, { budget: 8 }), weights, batch)],
    [...weights.map((value) => value / 8)],
  );
});

test("prompts count alike, and each token of a prompt alike: a long group moves the policy no more than a short one", () => {
  const two = batchOf([
    row("a", 0, { tokens: [1, 1, 1] }),
    row("b", 0, { tokens: [1] }),
    row("a", 1, { tokens: [1] }),
    row("c", 0, { tokens: [1] }),
  ]);
  // a has 3 trained tokens, b one, c none.
  const weights = Float64Array.of(1, 1, 0, 1, 0.5, 0);
  close([...factorsOf(made(promptMean, {}), weights, two)], [1 / 6, 1 / 6, 0, 1 / 2, 0.5 / 6, 0]);
  const nothing = new Float64Array(6);
  close([...factorsOf(made(promptMean, {}), nothing, two)], [...nothing]);
});

test("the dual clip caps what a token of negative advantage can cost", () => {
  const free = made(clipped, {}).loss(input);
  const capped = made(clipped, { dual: 2 }).loss(input);
  assert.ok(near(free.loss - capped.loss, 2 * (3 - 2)));
  assert.ok(near(gradient(free)[4], 2 * 3));
  assert.equal(gradient(capped)[4], 0);
  assert.deepEqual([...(capped.touched?.["dual_clip"] ?? [])], [0, 0, 0, 0, 1, 0]);
});

test("one pass gives ratios, clips on either side, effective sample size and divergence from the anchor", () => {
  const { metrics, touched } = made(clipped, {}).loss(input);
  const sum = ratios.reduce((total, value) => total + value, 0);
  assert.ok(near(metrics?.["update/ratio_mean"], sum / 6));
  assert.ok(near(metrics?.["update/ratio_min"], 0.5));
  assert.ok(near(metrics?.["update/ratio_max"], 3));
  assert.ok(near(metrics?.["update/clip_high"], 1 / 6));
  assert.ok(near(metrics?.["update/clip_low"], 1 / 6));
  assert.ok(
    near(metrics?.["update/ess"], sum ** 2 / (6 * ratios.reduce((total, value) => total + value ** 2, 0))),
  );
  const k3 = ratios.reduce((total, value) => total + value - 1 - Math.log(value), 0) / 6;
  assert.ok(near(metrics?.["update/anchor_kl"], k3));
  assert.deepEqual([...(touched?.["clip_high"] ?? [])], [1, 0, 0, 0, 0, 0]);
  assert.deepEqual([...(touched?.["clip_low"] ?? [])], [0, 0, 0, 1, 0, 0]);
});

test("a sequence's ratio is the geometric mean of its tokens', and every token carries its share of the gradient", () => {
  const wide = { low: 1, high: 100 } as const;
  const mean = Math.cbrt(1.5 * 0.5 * 1.1);
  close(gradient(made(clipped, { ...wide, ratio: "sequence" }).loss(input)).slice(0, 3), [
    -mean,
    -mean,
    -mean,
  ]);
  const product = 0.7 * 3;
  close(gradient(made(clipped, { ...wide, ratio: "sequence_sum" }).loss(input)).slice(3, 5), [
    2 * 2 * product,
    2 * 2 * product,
  ]);
  const uneven = { ...input, advantages: Float64Array.of(3, 0, 0, 0, 0, 0) };
  close(gradient(made(clipped, { ...wide, ratio: "sequence" }).loss(uneven)), [-mean, -mean, -mean, 0, 0, 0]);
  close(gradient(made(clipped, { ...wide, ratio: "sequence_token" }).loss(uneven)), [
    -3 * mean,
    0,
    0,
    0,
    0,
    0,
  ]);
});

test("the second moment's bound holds the largest moves until their mean square is within the budget", () => {
  // Moving away: 1.5 and 1.1 up, 0.7 down. Their squared logs are 0.164, 0.009 and 0.127; the budget for three is 0.12.
  const { loss, gradients, metrics, touched } = made(secondMoment, {}).loss(input);
  assert.ok(near(loss, -(1.1 + 0.5 + 1.1 - 2 / 1.1 - 2 * 3 + 0.5), 1e-10));
  close([...(gradients.logp ?? [])], [0, -0.5, 0, 0, 2 * 3, -0.5]);
  assert.deepEqual([...(touched?.["clip_high"] ?? [])], [1, 0, 1, 0, 0, 0]);
  assert.deepEqual([...(touched?.["clip_low"] ?? [])], [0, 0, 0, 1, 0, 0]);
  const squares = [1.5, 1.1, 0.7].map((ratio) => Math.log(ratio) ** 2);
  const moment = squares.reduce((sum, square) => sum + square, 0) / 3;
  assert.ok(near(metrics?.["update/second_moment"], moment));
  // A budget that the moves keep within holds nothing; least bounds are never narrower than they say.
  close(
    gradient(made(secondMoment, { budget: moment + 1e-9 }).loss(input)),
    [-1.5, -0.5, -1.1, 1.4, 6, -0.5],
  );
  const wide = made(secondMoment, { least_low: 0.3, least_high: 0.4 }).loss(input);
  close(gradient(wide), [0, -0.5, -1.1, 1.4, 6, -0.5]);
});

test("the bound of equal moves is none of them, and of no moves there is none", () => {
  assert.equal(bound(Float64Array.of(4, 4), 1), 0);
  assert.equal(bound(new Float64Array(0), 1), Number.POSITIVE_INFINITY);
  // 1 + 2·1 < 6 ≤ 1 + 4 + 4: sizes above 1 are held, and the mean square is then 1.
  assert.ok(near(bound(Float64Array.of(1, 4, 9), 2), 1));
});

test("on policy, every surrogate has the gradient of the plain policy gradient", () => {
  const fresh: ObjectiveInput = { ...input, now: { logp: old.slice() } };
  const plain = gradient(made(reinforce, {}).loss(fresh));
  for (const objective of [
    made(clipped, {}),
    made(cispo, {}),
    made(geoMean, {}),
    made(vespo, {}),
    made(secondMoment, {}),
  ])
    close(gradient(objective.loss(fresh)), plain);
});

test("CISPO's cap alone is AIPO: min(π/μ, ρ) A ∇log π, against what was drawn from", () => {
  const drawn = { ...batch, columns: { ...batch.columns, logp_sampled: old } };
  const aipo = made(cispo, { anchor: "sampled", high: 1 }).loss({ ...input, batch: drawn, old: {} });
  close(gradient(aipo), [-1.5, -0.5, -1.1, 2 * 0.7, 2 * 2, -0.5]);
  assert.throws(() => made(cispo, { anchor: "sampled" }).loss(input), /logp_sampled/);
});

const algorithm = (objective: string): Algorithm => {
  const { top } = configOf(
    `tasks: [{ env: countdown }]\nreward: { terms: { right: { use: equation } } }\nobjective: { aggregate: token_mean, ${objective} }`,
  );
  return new Algorithm(top, contextOf(top, { random: randomStream(1) }));
};
const proximal = Float64Array.of(-1.1, -1.3, -0.8, -2.2, -1, -0.6);
function weigh(objective: string, then = proximal): Weighed {
  const update = {
    old: { logp: old, "logp:proximal": then },
    advantages: input.advantages,
    weights: input.weights,
    version: 7,
  };
  return algorithm(objective).weigh(update, clock)(input.now, batch);
}
const decoupled =
  "anchor: proximal, correction: [{ use: truncate, numerator: proximal, denominator: behaviour, high: null }]";

test("the decoupled loss is PPO's where the proximal policy is the behaviour, and AIPO's where nothing is clipped", () => {
  const [one, other] = [weigh(decoupled, old), weigh("use: clipped")];
  assert.ok(near(one.loss, other.loss));
  close(gradient(one), gradient(other));
  close(
    gradient(weigh(`low: 1, high: 1000, ${decoupled}`)),
    gradient(weigh("use: cispo, low: null, high: null")),
  );
  assert.deepEqual(algorithm(decoupled).needs(clock).models, ["proximal"]);
});

test("interpolated log-probs lie between behaviour and now, as the versions do", () => {
  const versions = Int32Array.of(4, 6, 7, -1, 5, 6);
  const at = {
    ...input,
    batch: { ...batch, columns: { ...batch.columns, versions }, version: 6 },
    version: 8,
  };
  const wide = { low: 1, high: 100, anchor: "interpolated" } as const;
  const { gradients } = made(clipped, wide).loss(at);
  const alphas = [2 / 4, 0, 0, 0, 1 / 3, 0];
  alphas.forEach((alpha, i) =>
    assert.ok(near(gradients.logp?.[i], -input.advantages[i]! * ratios[i]! ** (1 - alpha))),
  );
  assert.throws(() => made(clipped, wide).loss(input), UserError);
});

test("a rejected token is in no normaliser and no KL term; one that is weighed stays in both", () => {
  const drawn = {
    ...batch,
    columns: { ...batch.columns, logp_sampled: old.map((value, i) => value - (i === 1 ? 2 : 0)) },
  };
  const run = (correction: string): Weighed => {
    const { top } = configOf(
      `tasks: [{ env: countdown }]\nreward: { terms: { right: { use: equation } } }\nobjective: { use: reinforce, aggregate: token_mean, correction: [${correction}] }\nkl: [{ estimator: k1, coefficient: 1 }]`,
    );
    const chain = new Algorithm(top, contextOf(top, { random: randomStream(1) }));
    const update = {
      old: { logp: old, "logp:reference": old },
      advantages: input.advantages,
      weights: input.weights,
    };
    return chain.weigh(update, clock)(input.now, drawn);
  };
  const rejected = gradient(run("{ use: reject, high: 2 }"));
  close(rejected, [0, 0, 0, 3 / 5, 3 / 5, 0.5 / 5]);
  const masked = gradient(run("{ use: mask, low: 0.5, high: 2 }"));
  close(masked, [0, 1 / 6, 0, 3 / 6, 3 / 6, 0.5 / 6]);
  const both = run("{ use: truncate, high: 2 }, { use: truncate, high: 3 }");
  assert.ok(near(gradient(both)[1], (1 - 6) / 6), "factors multiply");
});

test("corrections of a geometric mean are themselves averaged geometrically; VESPO's are part of its ratio", () => {
  const correction = Float64Array.of(2, 1, 0.5, 3, 3, 1);
  const [plain, corrected] = [
    made(geoMean, {}).loss(input),
    made(geoMean, {}).loss({ ...input, correction }),
  ];
  assert.ok(near(gradient(corrected)[0], gradient(plain)[0]!, 1e-8));
  assert.ok(near(gradient(corrected)[3], gradient(plain)[3]! * 3, 1e-8));
  const log = Math.log(0.7 * 3 * 9);
  const phi = Math.exp(2 + 3 * log - 2 * Math.exp(log));
  assert.ok(near(gradient(made(vespo, {}).loss({ ...input, correction }))[3], 2 * phi));
});

test("the tokens of largest covariance: penalised by KL-Cov, left out by Clip-Cov", () => {
  const some = randomInput(5);
  const covariance = covarianceOf(some);
  const tokens = [...some.weights.keys()].filter((token) => some.weights[token] !== 0);
  const sorted = [...tokens].sort((a, b) => covariance.at(b) - covariance.at(a));
  for (const count of [1, 2, 5, tokens.length + 3])
    assert.deepEqual(
      largest(count, some.weights, covariance.at).sort((a, b) => a - b),
      sorted.slice(0, count).sort((a, b) => a - b),
    );
  const { touched, metrics } = made(klCov, { share: 0.25 }).loss(some);
  const count = Math.max(1, Math.floor(0.25 * tokens.length));
  assert.ok(near(metrics?.["update/covariance_fraction"], count / tokens.length));
  assert.equal(touched?.["covariance"]?.[sorted[0]!], 1);
  const all = made(clipCov, { share: 1, least: -100, most: 100 }).loss(some);
  assert.ok(gradient(all).every((value) => value === 0));
  const drawn = made(clipCov, { share: 0.25, least: -100, most: 100 });
  assert.deepEqual(
    drawn.loss(some).touched,
    drawn.loss(some).touched,
    "one step draws the same tokens again",
  );
});

test("the entropy bonus: its share of tokens, bounds, own mean, and a coefficient that follows the entropy", () => {
  const entropy = Float64Array.of(0.1, 0.9, 0.5, 1.2, 0.3, 0.7);
  const update = { old: { logp: old }, advantages: new Float64Array(6), weights: input.weights };
  const run = (chain: Algorithm): Weighed => chain.weigh(update, clock)({ ...input.now, entropy }, batch);
  const bonus = (text: string): number[] => [
    ...(run(algorithm(`use: reinforce, entropy: ${text}`)).gradients.entropy ?? []),
  ];
  close(bonus("0.6"), Array(6).fill(-0.1));
  close(bonus("{ coefficient: 0.6, share: 0.2 }"), [0, -0.1, 0, -0.1, 0, 0]);
  close(bonus("{ coefficient: 0.6, share: 0.2, aggregate: token_mean }"), [0, -0.3, 0, -0.3, 0, 0]);
  close(bonus("{ coefficient: 0.6, low: 0.4, high: 1 }"), [0, -0.1, -0.1, 0, 0, -0.1]);
  const chain = algorithm(
    "use: reinforce, entropy: { coefficient: 0.6, adaptive: { target: 1, delta: 0.1, most: 0.65 } }",
  );
  const now = (): number => -6 * [...(run(chain).gradients.entropy ?? [])][0]!;
  assert.equal(Math.abs(now()), 0, "nothing was measured before the first update");
  chain.updated();
  assert.ok(near(now(), 0.65));
  chain.updated();
  const again = algorithm("use: reinforce, entropy: { coefficient: 0.6, adaptive: { target: 1 } }");
  again.load(chain.save());
  assert.ok(near(-6 * [...(run(again).gradients.entropy ?? [])][0]!, 0.65));
});

test("a ratio beyond all numbers is an error that says what to do; a clamp is a remedy", () => {
  const far = { ...input, now: { logp: old.map((value) => value + 800) } };
  assert.throws(
    () => made(clipped, {}).loss({ ...far, advantages: new Float64Array(6).fill(-1) }),
    (error: unknown) => error instanceof UserError && (error.detail.action ?? "").includes("clamp_log_ratio"),
  );
  const { loss, gradients } = made(clipped, { clamp_log_ratio: 20 }).loss({
    ...far,
    advantages: new Float64Array(6).fill(-1),
  });
  assert.ok(near(loss, 6 * Math.exp(20)));
  assert.ok(gradients.logp?.every((value) => value === 0));
});

test("derivatives may go to the same place from update to update, where the caller says so", () => {
  const chain = algorithm("use: clipped");
  const update = { old: { logp: old }, advantages: input.advantages, weights: input.weights };
  const apart = [1, 2].map(() => chain.weigh(update, clock)(input.now, batch).gradients.logp);
  assert.notEqual(apart[0], apart[1]);
  const same = [1, 2].map(
    () => chain.weigh({ ...update, reuse: true }, clock)(input.now, batch).gradients.logp,
  );
  assert.equal(same[0], same[1]);
  assert.deepEqual(same[0], apart[0]);
});
