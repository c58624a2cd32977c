import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { Algorithm, contextOf } from "../../../../server/algorithm/algorithm.ts";
import { adaptiveSchema } from "../../../../server/core/blocks/kl.ts";
import { AdaptiveCoefficient } from "../../../../server/methods/kl/adaptive.ts";
import { abs } from "../../../../server/methods/kl/abs.ts";
import { k1 } from "../../../../server/methods/kl/k1.ts";
import { k2 } from "../../../../server/methods/kl/k2.ts";
import { k3 } from "../../../../server/methods/kl/k3.ts";
import { randomStream } from "../../../../server/lib/random.ts";
import type { Batch } from "../../../../server/core/rollouts.ts";
import { divergenceChannel, divergenceOf } from "../../../../server/core/channelNames.ts";
import type { Channel, Stats, Weighed } from "../../../../server/core/policy.ts";
import { batchOf, configOf, made, near, row } from "../../support.ts";

const clock = { step: 0, stageStep: 0 };
const logp = fc.double({ min: -6, max: 0, noNaN: true });

test("the forward divergence of every estimator: its slope is its derivative", () => {
  for (const method of [k1, k2, k3, abs]) {
    const { forward } = made(method, {});
    assert.ok(forward !== undefined);
    fc.assert(
      fc.property(logp, logp, (own, other) => {
        fc.pre(Math.abs(own - other) > 1e-3);
        const h = 1e-5;
        const difference = (forward.value(own + h, other) - forward.value(own - h, other)) / (2 * h);
        return Math.abs(difference - forward.slope(own, other)) < 1e-5 * Math.max(1, Math.abs(difference));
      }),
    );
  }
});

test("on policy, forward k1 and k3 have KL(model ‖ policy) as their mean", () => {
  const [own, other] = [
    [0.5, 0.3, 0.2],
    [0.2, 0.2, 0.6],
  ] as const;
  const exact = other.reduce((sum, q, i) => sum + q * Math.log(q / own[i]!), 0);
  for (const method of [k1, k3]) {
    const { forward } = made(method, {});
    const mean = own.reduce((sum, p, i) => sum + p * forward!.value(Math.log(p), Math.log(other[i]!)), 0);
    assert.ok(near(mean, exact));
  }
});

test("bounds on log-ratio and value cut the gradient; straight through it is that of k2 all the same", () => {
  const clamped = made(k3, { clamp_log_ratio: 20, clamp: 10 });
  assert.equal(clamped.value(-5, -1), 10);
  assert.equal(clamped.slope(-5, -1), 0);
  assert.ok(near(clamped.slope(-2, -1), 1 - Math.E));
  const through = made(k3, { clamp: 10, straight_through: true });
  assert.equal(through.value(-5, -1), 10);
  assert.equal(through.slope(-5, -1), -4);
  assert.equal(made(k1, { clamp_log_ratio: { low: -1 } }).value(-5, -1), -1);
  assert.equal(made(abs, {}).value(-5, -1), 4);
  assert.equal(made(abs, {}).slope(-5, -1), -1);
});

test("an adaptive coefficient: proportional with its error bounded, NLPO's fixed gain, doubling; saved and loaded", () => {
  const options = { use: "adaptive", initial: 0.2, target: 6 } as const;
  const proportional = new AdaptiveCoefficient(adaptiveSchema.parse({ ...options, horizon: 1000 }));
  proportional.measure(9, 100);
  proportional.advance();
  assert.ok(near(proportional.value, 0.2 * (1 + (0.2 * 100) / 1000)));
  proportional.advance();
  assert.ok(near(proportional.value, 0.2 * 1.02), "without a measurement nothing moves");
  const gain = new AdaptiveCoefficient(adaptiveSchema.parse({ ...options, gain: 0.1 }));
  gain.measure(5.4, 7);
  gain.advance();
  assert.ok(near(gain.value, 0.2 * (1 - 0.1 * 0.1)));
  const doubling = new AdaptiveCoefficient(adaptiveSchema.parse({ ...options, rule: "doubling", most: 0.3 }));
  doubling.measure(9.1, 1);
  doubling.advance();
  assert.equal(doubling.value, 0.3);
  doubling.measure(3.9, 1);
  doubling.advance();
  assert.equal(doubling.value, 0.15);
  const again = new AdaptiveCoefficient(adaptiveSchema.parse(options));
  again.load(doubling.save());
  assert.equal(again.value, 0.15);
});

const algorithm = (kl: string): Algorithm => {
  const { top } = configOf(
    `tasks: [{ env: countdown }]\nreward: { terms: { right: { use: equation } } }\nobjective: { use: reinforce, aggregate: token_sum }\nkl: [${kl}]`,
  );
  return new Algorithm(top, contextOf(top, { random: randomStream(1) }));
};
const batch: Batch = batchOf([
  row("a", 0, {
    tokens: [1, 1, 1],
    turns: [
      { role: "assistant", start: 0, end: 1 },
      { role: "user", start: 1, end: 2 },
      { role: "assistant", start: 2, end: 3 },
    ],
  }),
  row("a", 1, { tokens: [1, 1] }),
  row("b", 0, { tokens: [1] }),
]);
const own = Float64Array.of(-1, -2, -0.5, -1.5, -0.7, -2.2);
const reference = Float64Array.of(-1.2, -1, -0.9, -1, -1.7, -2);
const behaviour = Float64Array.of(-1.1, -1.7, -0.6, -1.5, -0.9, -2.1);
const zero = new Float64Array(6);
function weigh(kl: string, more: { now?: Stats; old?: Stats; batch?: Batch } = {}): Weighed {
  const success = Uint8Array.of(1, 0, 0);
  const combined = { sources: [], total: new Float64Array(3), errored: new Uint8Array(3) };
  const update = {
    old: { logp: behaviour, "logp:reference": reference, ...more.old },
    advantages: zero,
    weights: new Float64Array(6).fill(1),
    scored: { combined, success },
  };
  return algorithm(kl).weigh(update, clock)({ logp: own, ...more.now }, more.batch ?? batch);
}
const tokensThatMove = (weighed: Weighed): number[] =>
  [...(weighed.gradients.logp ?? [])].flatMap((value, i) => (value === 0 ? [] : [i]));

test("masks by success, of rollouts and of groups, and turns", () => {
  const moved = (mask: string): number[] =>
    tokensThatMove(weigh(`{ estimator: k2, coefficient: 1, ${mask} }`));
  assert.deepEqual(moved("mask: all"), [0, 1, 2, 3, 4, 5]);
  assert.deepEqual(moved("mask: right"), [0, 1, 2]);
  assert.deepEqual(moved("mask: wrong"), [3, 4, 5]);
  assert.deepEqual(moved("mask: all_wrong"), [5]);
  assert.deepEqual(moved("mask: mixed"), [0, 1, 2, 3, 4]);
  assert.deepEqual(moved("mask: all_right"), []);
  assert.deepEqual(moved("turns: [0]"), [0, 3, 4, 5]);
  assert.deepEqual(moved("turns: [1]"), [2]);
});

test("certainty: probabilities 0.7, 0.1, 0.1, 0.1 give J = 0.3216, to the power κ", () => {
  const entropy = -(0.7 * Math.log(0.7) + 0.3 * Math.log(0.1));
  const J = 1 - entropy / Math.log(4);
  assert.ok(Math.abs(J - 0.3216) < 5e-5);
  const old: Stats = { "entropy:reference": new Float64Array(6).fill(entropy) };
  const plain = weigh("{ estimator: k2, coefficient: 1 }");
  const { loss, gradients } = weigh(
    "{ estimator: k2, coefficient: 1, weight: { by: certainty, power: 3, vocabulary: 4 } }",
    { old },
  );
  assert.ok(near(loss, plain.loss * J ** 3));
  assert.ok(near(gradients.logp?.[1], plain.gradients.logp![1]! * J ** 3));
  assert.throws(() => weigh("{ weight: { by: certainty, vocabulary: 4 } }"), /entropy:reference/);
});

test("prioritised-kl: the derivative of 5 · J^150 · k2 is that of its loss, token by token", () => {
  const entropy = Float64Array.of(0, 0.002, 0.01, 0.02, 0.05, 1);
  const entry =
    "{ estimator: k2, coefficient: 5, weight: { by: certainty, power: 150, vocabulary: 4 }, place: loss }";
  const old: Stats = { "entropy:reference": entropy };
  const { gradients } = weigh(entry, { old });
  const h = 1e-6;
  entropy.forEach((nats, token) => {
    const [above, below] = [h, -h].map(
      (by) => weigh(entry, { old, now: { logp: own.with(token, own[token]! + by) } }).loss,
    );
    const difference = (above! - below!) / (2 * h);
    const formula = 5 * (1 - nats / Math.log(4)) ** 150 * (own[token]! - reference[token]!);
    const given = gradients.logp![token]!;
    assert.ok(Math.abs(given - difference) < 1e-7, `token ${token}: ${given} and ${difference}`);
    assert.ok(Math.abs(given - formula) < 1e-12, `token ${token}: ${given} and ${formula}`);
  });
});

test("confidence: exp(−β H), of mean 1", () => {
  const entropy = [0, 1, 2, 0, 1, 2];
  const spoken = { ...batch, columns: { ...batch.columns, entropy: Float64Array.from(entropy) } };
  const { gradients } = weigh(
    "{ estimator: k1, coefficient: 1, weight: { by: confidence, beta: 2, entropy_of: behaviour } }",
    { batch: spoken },
  );
  const raw = entropy.map((h) => Math.exp(-2 * h));
  const mean = raw.reduce((sum, value) => sum + value, 0) / 6;
  raw.forEach((value, i) => assert.ok(near(gradients.logp?.[i], value / mean)));
});

test("a full divergence comes from its channel, and its derivative goes there", () => {
  const divergence = Float64Array.of(0.1, 0.2, 0.3, 0.4, 0.5, 0.6);
  const entry = "{ estimator: full, direction: forward, coefficient: 0.5 }";
  const { loss, gradients, metrics } = weigh(entry, { now: { "kl:reference:forward": divergence } });
  assert.ok(near(loss, 0.5 * 2.1));
  assert.ok(gradients["kl:reference:forward"]?.every((value) => value === 0.5));
  assert.ok(near(metrics?.["policy/kl/reference"], 0.35));
  assert.ok(algorithm(entry).needs(clock).channels.includes("kl:reference:forward"));
  assert.deepEqual(algorithm(entry).needs(clock).models, []);
});

test("a full divergence among the likeliest words has a channel of its own", () => {
  const channels = algorithm("{ estimator: { use: full, top_k: 64 }, coefficient: 1 }").needs(clock).channels;
  assert.ok(channels.includes("kl:reference:reverse:64"));
});

test("a Jensen–Shannon divergence has one too, by β and temperature, in either direction", () => {
  const divergence = Float64Array.of(0.1, 0.2, 0.3, 0.4, 0.5, 0.6);
  for (const direction of ["forward", "reverse"]) {
    const entry = `{ estimator: { use: jsd, beta: 0.3, temperature: 1.1, top_k: 9 }, direction: ${direction}, coefficient: 2 }`;
    const channel = "jsd:reference:0.3:9:t1.1";
    const { loss, gradients } = weigh(entry, { now: { [channel]: divergence } });
    assert.ok(near(loss, 2 * 2.1));
    assert.ok(gradients[channel]?.every((value) => value === 2));
    assert.deepEqual(algorithm(entry).needs(clock).models, []);
  }
});

test("the name of a divergence says what it compares, and names that say nothing are none", () => {
  for (const of of ["forward", "reverse", 0.5, 1e-7] as const)
    for (const top of [undefined, 20])
      for (const temperature of [1, 1.1]) {
        const divergence = { model: "teacher@solution", of, top, temperature };
        assert.deepEqual(divergenceOf(divergenceChannel(divergence)), divergence);
      }
  for (const channel of [
    "jsd:reference:1",
    "jsd:reference:0",
    "kl:reference:reverse:0",
    "jsd:reference:0.5:t0",
    "kl:reference",
  ])
    assert.equal(divergenceOf(channel as Channel), undefined, channel);
});

test("the model `behaviour` is what generated; of `previous` and others the log-probs are asked for", () => {
  const { loss } = weigh("{ model: behaviour, estimator: k2, coefficient: 1 }");
  assert.ok(
    near(
      loss,
      own.reduce((sum, value, i) => sum + 0.5 * (value - behaviour[i]!) ** 2, 0),
    ),
  );
  assert.deepEqual(algorithm("{ model: behaviour }, { model: previous }").needs(clock).models, ["previous"]);
});

/** Derivative of the whole loss by log π, by central differences. */
function difference(kl: string, token: number): number {
  const h = 1e-6;
  const at = (by: number): number =>
    weigh(kl, { now: { logp: own.map((value, i) => (i === token ? value + by : value)) } }).loss;
  return (at(h) - at(-h)) / (2 * h);
}

test("importance weights through which gradient flows, of tokens and of responses, with a cap", () => {
  for (const importance of [
    "true",
    "{ level: sequence }",
    "{ level: token, cap: 1.05 }",
    "{ level: sequence, cap: 1.02 }",
  ])
    for (const estimator of ["k1", "k3", "k2"]) {
      const kl = `{ estimator: ${estimator}, coefficient: 0.7, importance_weighted: ${importance} }`;
      const { gradients } = weigh(kl);
      for (let token = 0; token < 6; token++)
        assert.ok(near(gradients.logp?.[token], difference(kl, token), 1e-6), `${kl} at ${token}`);
    }
});

test("an unbiased gradient: the estimator's value, and k2's slope times the detached ratio", () => {
  const entry = (more: string): string =>
    `{ coefficient: 1, estimator: { use: k3, straight_through: true }, ${more} }`;
  const { loss, gradients } = weigh(entry("importance_weighted: { of: gradient, detached: true, cap: 1.1 }"));
  assert.ok(near(loss, weigh("{ coefficient: 1 }").loss));
  own.forEach((value, i) => {
    const ratio = Math.min(1.1, Math.exp(value - behaviour[i]!));
    assert.ok(near(gradients.logp?.[i], ratio * (value - reference[i]!)));
  });
});

test("a term's own normaliser", () => {
  const { loss } = weigh("{ estimator: k1, coefficient: 1, aggregate: sequence_mean }");
  const gap = own.map((value, i) => value - reference[i]!);
  assert.ok(near(loss, ((gap[0]! + gap[1]! + gap[2]!) / 3 + (gap[3]! + gap[4]!) / 2 + gap[5]!) / 3));
});

const places = [
  ["loss", "token"],
  ["reward", "token"],
  ["loss", "response"],
  ["reward", "response"],
] as const;
test("what an adaptive coefficient follows: the mean over rollouts of their token means or sums, in the loss and in the reward", () => {
  for (const [place, per] of places) {
    const chain = algorithm(
      `{ place: ${place}, estimator: k2, coefficient: { use: adaptive, initial: 0.5, target: 0.1, per: ${per}, gain: 1, error_clip: 100 } }`,
    );
    const update = {
      old: { logp: behaviour, "logp:reference": reference },
      advantages: zero,
      weights: new Float64Array(6).fill(1),
    };
    chain.weigh(update, clock)({ logp: own }, batch);
    chain.finished();
    const column = place === "loss" ? own : behaviour;
    const k = column.map((value, i) => 0.5 * (value - reference[i]!) ** 2);
    const [long, short] = per === "token" ? [3, 2] : [1, 1];
    const mean = ((k[0]! + k[1]! + k[2]!) / long + (k[3]! + k[4]!) / short + k[5]!) / 3;
    assert.ok(near(chain.kl[0]?.coefficient(clock), 0.5 * (mean / 0.1)));
    const again = algorithm(
      `{ place: ${place}, estimator: k2, coefficient: { use: adaptive, initial: 0.5, target: 0.1 } }`,
    );
    again.load(chain.save());
    assert.equal(again.kl[0]?.coefficient(clock), chain.kl[0]?.coefficient(clock));
  }
});

test("PPO with an adaptive coefficient: 6 nats a response, its error bounded at 0.2, over 10000 rollouts", () => {
  const { top } = configOf(
    "extends: ppo-adaptive-kl\ntasks: [{ env: countdown }]\nreward: { terms: { right: { use: equation } } }\n",
  );
  const chain = new Algorithm(top, contextOf(top, { random: randomStream(1) }));
  // Each of the three responses is 6.6 nats from the reference, whatever its length: a tenth too far.
  const off = [2.2, 2.2, 2.2, 3.3, 3.3, 6.6];
  const update = {
    old: { logp: behaviour, "logp:reference": behaviour.map((value, i) => value - off[i]!) },
    advantages: zero,
    weights: new Float64Array(6).fill(1),
  };
  // Four passes over them are still three rollouts.
  for (let epoch = 0; epoch < 4; epoch++)
    chain.weigh(update, clock)(
      { logp: behaviour, "head:value": zero },
      { ...batch, columns: { ...batch.columns, returns: zero } },
    );
  chain.finished();
  assert.ok(near(chain.kl[0]?.coefficient(clock), 0.2 * (1 + (0.1 * 3) / 10000)));
});
