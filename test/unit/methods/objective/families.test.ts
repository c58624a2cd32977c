/** Check values worked by hand, and identities between the families. */
import assert from "node:assert/strict";
import { test } from "node:test";
import type { z } from "zod";
import { alol } from "../../../../server/methods/objective/likelihoods/alol.ts";
import { advantageWeighted } from "../../../../server/methods/objective/likelihoods/advantageWeighted.ts";
import { brain } from "../../../../server/methods/objective/regressions/brain.ts";
import { copg } from "../../../../server/methods/objective/regressions/copg.ts";
import { directAdvantage } from "../../../../server/methods/objective/regressions/directAdvantage.ts";
import { dpg } from "../../../../server/methods/objective/likelihoods/dpg.ts";
import { dpo } from "../../../../server/methods/objective/pairs/dpo.ts";
import { dqo } from "../../../../server/methods/objective/regressions/dqo.ts";
import { filteredLikelihood } from "../../../../server/methods/objective/likelihoods/filteredLikelihood.ts";
import { ilql } from "../../../../server/methods/objective/values/ilql.ts";
import { ipo } from "../../../../server/methods/objective/pairs/ipo.ts";
import { logRatioRegression } from "../../../../server/methods/objective/regressions/logRatioRegression.ts";
import { nft } from "../../../../server/methods/objective/likelihoods/nft.ts";
import { oreo } from "../../../../server/methods/objective/regressions/oreo.ts";
import { pacs } from "../../../../server/methods/objective/likelihoods/pacs.ts";
import { refuel } from "../../../../server/methods/objective/regressions/refuel.ts";
import { reinforce } from "../../../../server/methods/objective/surrogates/reinforce.ts";
import { rrhf } from "../../../../server/methods/objective/pairs/rrhf.ts";
import { tokenQ } from "../../../../server/methods/objective/values/tokenQ.ts";
import { turnCritic } from "../../../../server/methods/objective/values/turnCritic.ts";
import { valueClipped } from "../../../../server/methods/objective/values/valueClipped.ts";
import { valueExpectile } from "../../../../server/methods/objective/values/valueExpectile.ts";
import { weightedLikelihood } from "../../../../server/methods/objective/likelihoods/weightedLikelihood.ts";
import { sequenceMean } from "../../../../server/methods/objective/aggregates/sequenceMean.ts";
import { leaveOneOut } from "../../../../server/methods/advantage/baselines/leaveOneOut.ts";
import type { ObjectiveInput } from "../../../../server/core/loss.ts";
import { UserError } from "../../../../shared/lib/errors.ts";
import { made, near } from "../../support.ts";
import { factorsOf, randomInput } from "./differences.ts";
import { close, inputOf, weigh } from "./support.ts";

test("direct advantage: A 0.3, β 0.1 and a log-ratio of 1 give 2", () => {
  const { loss, gradients } = weigh(
    directAdvantage,
    { beta: 0.1 },
    inputOf([{ ratios: [0.4, 0.6], advantage: 0.3 }]),
  );
  assert.ok(near(loss, 2));
  close(gradients.logp, [-2, -2]);
});

test("copg: rewards 1 and 0, β 0.1, log-ratios 0.4 and −0.2 give a residual of 0.94 and a loss of 0.4418", () => {
  const rows = [
    { ratios: [0.1, 0.3], reward: 1 },
    { ratios: [-0.2], reward: 0 },
  ];
  const { loss, gradients } = weigh(copg, { beta: 0.1 }, inputOf(rows));
  assert.ok(near(loss, 0.4418));
  close(gradients.logp, [-0.094, -0.094, 0.094]);
});

test("Step-APO: β 0.3, Δ 0.5, α 0.5, advantages 0.6 and −0.4 give a logit of −0.35 and a loss of 0.8834", () => {
  const { loss } = weigh(
    dpo,
    { beta: 0.3, alpha: 0.5 },
    inputOf([
      { ratios: [0.3], advantage: 0.6 },
      { ratios: [-0.2], advantage: -0.4 },
    ]),
  );
  assert.ok(near(loss, 0.8834, 1e-4));
});

test("an expectile of 0.7 at V = 0.5: 0.0875 for a return of 1, 0.0375 for one of 0", () => {
  for (const [reward, expected] of [
    [1, 0.0875],
    [0, 0.0375],
  ] as const)
    assert.ok(
      near(weigh(valueExpectile, {}, inputOf([{ ratios: [0], values: [0.5], reward }])).loss, expected),
    );
});

test("ilql: two Qs, the least of their slow copies above and below V, and the cross-entropy of both, by hand", () => {
  const columns = (q1: number[], q2: number[], end = "") => ({
    [`head:q1${end}`]: Float64Array.from(q1),
    [`head:q2${end}`]: Float64Array.from(q2),
  });
  const input = inputOf([{ ratios: [0, 0], values: [0.3, 1], reward: 1 }]);
  const now = { ...columns([0.5, 1.2], [0.7, 0.8]), ...columns([-1, -2], [-0.5, -1.5], ":logp") };
  const { loss, gradients } = weigh(
    ilql,
    { target: "slow", gamma: 0.9, tau: 0.7, cql: 0.1 },
    {
      ...input,
      now: { ...input.now, ...now },
      old: { ...input.old, ...columns([0.4, 1], [0.6, 0.9], "@slow") },
    },
  );
  // Targets 0.9 · 1 and 1. First token: 0.08 + 0.02 + 0.7 · 0.1²/2 + 0.15; second: 0.02 + 0.02 + 0.3 · 0.1²/2 + 0.35.
  assert.ok(near(loss, (0.2535 + 0.3915) / 2));
  close(gradients["head:q1"], [-0.2, 0.1]);
  close(gradients["head:q2"], [-0.1, -0.1]);
  close(gradients["head:value"], [-0.035, 0.015]);
  for (const head of ["head:q1:logp", "head:q2:logp"] as const) close(gradients[head], [-0.05, -0.05]);
});

test("token_q: Q is α times what a logit lacks of the largest plus V, backed up by the reference's likeliest token", () => {
  const input = inputOf([{ ratios: [0, 0.8], values: [0.5, 0.8], reward: 1 }]);
  const now = {
    ...input.now,
    greedy: Float64Array.of(-0.4, -0.2),
    "greedy:reference": Float64Array.of(-0.7, -0.9),
  };
  // Q = 0.5 · (−1 + 0.4) + 0.5 and 0.8; targets 0.9 · (0.5 · (−0.9 + 0.2) + 0.8) and 1.
  const both = weigh(tokenQ, { alpha: 0.5, gamma: 0.9 }, { ...input, now });
  assert.ok(near(both.loss, (0.5 * 0.205 ** 2 + 0.5 * 0.2 ** 2) / 2));
  close(both.gradients["head:value"], [-0.1025, -0.1]);
  close(both.gradients.logp, [-0.05125, -0.05]);
  close(both.gradients.greedy, [0.05125, 0.05]);
  const first = weigh(tokenQ, { alpha: 0.5, gamma: 0.9, values_only: true }, { ...input, now });
  assert.ok(near(first.loss, both.loss));
  close(first.gradients["head:value"], [-0.1025, -0.1]);
  for (const channel of ["logp", "greedy"] as const) close(first.gradients[channel], [0, 0]);
});

test("the value clip takes the larger of two errors, and no gradient where that is the clipped one", () => {
  const input = inputOf([{ ratios: [0, 0], values: [0.5, -0.5], reward: 1 }]);
  const batch = { ...input.batch, columns: { values: Float64Array.of(0, 0) } };
  const { loss, gradients, metrics } = weigh(valueClipped, { clip: 0.2 }, { ...input, batch });
  assert.ok(near(loss, (0.5 * 0.8 ** 2 + 0.5 * 1.5 ** 2) / 2));
  close(gradients["head:value"], [0, -0.75]);
  assert.equal(metrics?.["value/clip_fraction"], 0.5);
});

test("the critic's explained variance is 1 − Var(R − V) / Var(R), and absent where all returns are equal", () => {
  // Returns 1 and 0, values 0.8 and 0.4: errors of 0.2 and −0.4, whose variance is 0.09; that of the returns is 0.25.
  const rows = [
    { ratios: [0], values: [0.8], reward: 1 },
    { ratios: [0], values: [0.4], reward: 0 },
  ];
  const { metrics } = weigh(valueClipped, {}, inputOf(rows));
  assert.ok(near(metrics?.["value/explained_variance"] ?? Number.NaN, 1 - 0.09 / 0.25));
  assert.ok(near(metrics?.["value/mean"] ?? Number.NaN, 0.6));
  const equal = weigh(valueClipped, {}, inputOf(rows.map((row) => ({ ...row, reward: 1 }))));
  assert.equal(equal.metrics?.["value/explained_variance"], undefined);
});

const randomGroups = [1, 2, 3].map((seed) => randomInput(seed, { groups: 6 }));
/** The same input with `now` equal to `old`: on policy. */
const onPolicy = (input: ObjectiveInput): ObjectiveInput => ({
  ...input,
  now: { ...input.now, logp: input.old.logp! },
  weights: input.weights.map((weight) => (weight === 0 ? 0 : 1)),
});

test("NFT on policy: no loss, and the policy gradient with weights 1 and −r/(1 − r); √((1−r)/r) makes it GRPO's", () => {
  for (const random of randomGroups) {
    const input = onPolicy(random);
    const { loss, gradients } = weigh(nft, { weight: "grpo" }, input);
    assert.ok(near(loss, 0));
    const { group, rows, offsets } = input.batch;
    for (let own = 0; own < rows; own++) {
      const known = [...group.keys()].filter(
        (other) => group[other] === group[own] && input.success![other] !== 2,
      );
      const rate = known.filter((other) => input.success![other] === 1).length / known.length;
      const spread = Math.sqrt(rate * (1 - rate));
      const advantage =
        input.success![own] === 2 || rate === 0 || rate === 1 ? 0 : (input.success![own]! - rate) / spread;
      for (let t = offsets[own]!; t < offsets[own + 1]!; t++)
        assert.ok(near(gradients.logp![t], -input.factors[t]! * advantage, 1e-9));
    }
  }
});

test("PACS on policy: σ = ½, and the gradient is β times that of RLOO", () => {
  for (const random of randomGroups) {
    const batch = random.batch;
    const ones = { ...onPolicy(random), success: random.success!.map((value) => (value === 2 ? 0 : value)) };
    const counted = [...Array(batch.rows).keys()].filter((own) =>
      random.weights.subarray(batch.offsets[own], batch.offsets[own + 1]).some((weight) => weight !== 0),
    );
    const factors = factorsOf(made(sequenceMean, {}), ones.weights, batch);
    const groups = Array.from({ length: batch.groups }, (_, group) =>
      counted.filter((own) => batch.group[own] === group),
    );
    const { gradients } = weigh(pacs, { beta: 2, balance: "none" }, { ...ones, factors });
    for (const rows of groups)
      for (const own of rows) {
        const others = rows.filter((other) => other !== own).map((other) => ones.success[other]!);
        const advantage =
          others.length === 0 ? 0 : ones.success[own]! - others.reduce((a, b) => a + b, 0) / others.length;
        for (let t = batch.offsets[own]!; t < batch.offsets[own + 1]!; t++)
          if (ones.weights[t] !== 0)
            assert.ok(near(gradients.logp![t], (-2 * advantage) / counted.length, 1e-9));
      }
  }
  assert.equal(leaveOneOut.name, "leave_one_out");
});

test("CoPG with rewards half apart is IPO: β²/2 of its loss", () => {
  for (const random of [1, 2, 3].map((seed) => randomInput(seed, { pairs: true }))) {
    const advantages = random.advantages.map((value) => (value > 0 ? 0.5 : 0));
    const total = random.rewards!.total.map((value) => (Number.isNaN(value) ? value : value > 0.4 ? 0.5 : 0));
    const input = { ...random, advantages, rewards: { ...random.rewards!, total } };
    const [left, right] = [
      weigh(ipo, { beta: 0.2, pairs: "best_worst" }, input),
      weigh(copg, { beta: 0.2, pairs: "best_worst" }, input),
    ];
    const pairs = left.metrics?.["update/pairs"] ?? 0;
    const ties = (right.metrics?.["update/pairs"] ?? 0) - pairs;
    if (ties > 0 || pairs === 0) continue;
    assert.ok(near(right.loss, 0.5 * 0.2 ** 2 * left.loss, 1e-9));
    close(
      right.gradients.logp,
      left.gradients.logp!.map((value) => 0.5 * 0.2 ** 2 * value),
      1e-9,
    );
  }
});

test("CoPG's gradient is a policy gradient whose baseline is the other answer's regularised reward", () => {
  const rows = [
    { ratios: [0.1, 0.3], reward: 1 },
    { ratios: [-0.2], reward: 0.2 },
  ];
  const input = inputOf(rows);
  const regularised = [1 - 0.5 * 0.4, 0.2 - 0.5 * -0.2];
  const { gradients } = weigh(copg, { beta: 0.5 }, input);
  const advantage = regularised[0]! - regularised[1]!;
  close(gradients.logp, [-0.5 * advantage, -0.5 * advantage, 0.5 * advantage]);
});

test("Kimi's gradient on policy is the plain policy gradient; off policy the penalty pulls back", () => {
  const input = inputOf([
    { ratios: [0, 0], advantage: 0.7 },
    { ratios: [0], advantage: -0.3 },
  ]);
  close(weigh(logRatioRegression, {}, input).gradients.logp, [-0.35, -0.35, 0.15]);
  const moved = inputOf([{ ratios: [0.5, 0.5], advantage: 0.1 }]);
  close(weigh(logRatioRegression, { beta: 0.1 }, moved).gradients.logp, [0, 0]);
});

test("OREO with a value of the whole response is DQO with λ = 1, twice", () => {
  for (const input of randomGroups) {
    const { returns: _, ...columns } = input.batch.columns;
    const weights = input.weights.map((weight) => (weight === 0 ? 0 : 1));
    const plain = { ...input, batch: { ...input.batch, columns }, weights };
    const [left, right] = [weigh(oreo, {}, plain), weigh(dqo, {}, plain)];
    close(
      left.gradients["head:value"],
      right.gradients["head:value"]!.map((value) => 2 * value),
      1e-9,
    );
  }
});

test("REFUEL: the released form is η² times the paper's; where the ratios explain the rewards there is no loss", () => {
  const rows = [
    { ratios: [0.5, 0.1], reward: 1 },
    { ratios: [0.3], reward: 0.5 },
  ];
  const [paper, released] = [
    weigh(refuel, { eta: 0.5 }, inputOf(rows)),
    weigh(refuel, { eta: 0.5, form: "released" }, inputOf(rows)),
  ];
  assert.ok(near(paper.loss, (0.3 / 0.5 - 0.5) ** 2));
  assert.ok(near(released.loss, 0.25 * paper.loss));
});

test("ReST: a threshold that rises; best of a group; the shortest that succeeds", () => {
  const rows = [
    { ratios: [0, 0], reward: 1 },
    { ratios: [0], reward: 1 },
    { ratios: [0, 0, 0], reward: 0.4 },
  ];
  const kept = (params: z.input<typeof filteredLikelihood.params>, step = 0): number[] => {
    const { gradients } = weigh(
      filteredLikelihood,
      params,
      inputOf(rows, { clock: { step, stageStep: step } }),
    );
    return [0, 2, 3].map((t) => gradients.logp![t]!).flatMap((value, i) => (value === 0 ? [] : [i]));
  };
  const rising = { schedule: "linear", from: 0.3, to: 0.9, over: 10, start: 0 } as const;
  assert.deepEqual(kept({ threshold: rising }, 0), [0, 1, 2]);
  assert.deepEqual(kept({ threshold: rising }, 10), [0, 1]);
  assert.deepEqual(kept({ keep: "best" }), [0]);
  assert.deepEqual(kept({ keep: "shortest" }), [1]);
  const { loss } = weigh(filteredLikelihood, { threshold: 0.5 }, inputOf(rows));
  assert.ok(near(loss, 1));
});

test("O1-Pruner's weights: clipped, then standardised over the rollouts", () => {
  const rows = [3.5, -3, 1].map((reward) => ({ ratios: [0], reward }));
  const { gradients } = weigh(weightedLikelihood, { low: -2, high: 4, standardise: true }, inputOf(rows));
  const mean = 2.5 / 3;
  const spread = Math.sqrt(((3.5 - mean) ** 2 + (-2 - mean) ** 2 + (1 - mean) ** 2) / 2);
  close(
    gradients.logp,
    [3.5, -2, 1].map((value) => -(value - mean) / spread / 3),
  );
});

test("RRHF: hinges of answers that are likelier than better ones, and the best one's likelihood", () => {
  const rows = [
    { ratios: [0, 0], reward: 1 },
    { ratios: [0.5], reward: 0 },
    { ratios: [-0.5], reward: 0.5 },
  ];
  const { loss, gradients } = weigh(rrhf, {}, inputOf(rows));
  // p = −1, −0.5, −1.5: (2nd, 1st) by 0.5, (2nd, 3rd) by 1, and −p of the first.
  assert.ok(near(loss, 0.5 + 1 + 1));
  close(gradients.logp, [-1, -1, 2, -1]);
});

test("A-LoL on the reference is the policy gradient over positive advantages", () => {
  const rows = [0.6, -0.4].map((advantage) => ({ ratios: [0, 0], advantage }));
  close(weigh(alol, {}, inputOf(rows)).gradients.logp, [-0.15, -0.15, 0, 0]);
  const all = inputOf(rows);
  close(weigh(alol, { positive: false }, all).gradients.logp, weigh(reinforce, {}, all).gradients.logp!);
});

test("AWR with a huge temperature is plain likelihood", () => {
  const rows = [1, -1].map((advantage) => ({ ratios: [0], advantage }));
  close(weigh(advantageWeighted, { beta: 1e9 }, inputOf(rows)).gradients.logp, [-0.5, -0.5], 1e-8);
});

test("BRAIn rests at the posterior: no gradient where the policy's ratios are exp(r/γ)", () => {
  const rewards = [1, 0.25, 0];
  const reached = inputOf(rewards.map((reward) => ({ ratios: [reward / 0.5], reward })));
  close(weigh(brain, { gamma: 0.5 }, reached).gradients.logp, [0, 0, 0]);
  const away = weigh(brain, { gamma: 0.5 }, inputOf(rewards.map((reward) => ({ ratios: [0], reward }))));
  assert.ok(away.gradients.logp![0]! < 0 && away.gradients.logp![2]! > 0);
  assert.ok(
    near(
      away.gradients.logp!.reduce((a, b) => a + b, 0),
      0,
    ),
  );
});

test("DPG: weights P/(Zπ) have mean 1, so the baseline centres them", () => {
  const input = inputOf([1, 0].map((reward) => ({ ratios: [0], reward })));
  const [e, one] = [Math.exp(1), 1];
  const mean = (e + one) / 2;
  close(weigh(dpg, {}, input).gradients.logp, [-(e / mean - 1) / 2, -(one / mean - 1) / 2]);
});

test("ArCHer's critic: Q to r + γV of the next turn, V to Q, each twin to its own or all to the least", () => {
  const input = inputOf([
    {
      ratios: [0, 0, 0],
      reward: 1,
      turns: [
        [0, 2],
        [2, 3],
      ],
    },
  ]);
  const column = (...values: number[]): Float64Array => Float64Array.from(values);
  const now = {
    "head:q1": column(9, 0.5, 0.4),
    "head:q2": column(9, 0.7, 0.6),
    "head:v1": column(0.2, 9, 0.1),
    "head:v2": column(0.3, 9, 0.3),
  };
  const own = weigh(turnCritic, { gamma: 0.9 }, { ...input, now });
  const square = (...gaps: number[]): number => gaps.reduce((sum, gap) => sum + gap * gap, 0);
  const q = square(0.5 - 0.09, 0.7 - 0.27, 0.4 - 1, 0.6 - 1);
  assert.ok(near(own.loss, (q + square(0.2 - 0.5, 0.3 - 0.7, 0.1 - 0.4, 0.3 - 0.6)) / 2 / 2));
  close(own.gradients["head:q2"], [0, (0.7 - 0.27) / 2, (0.6 - 1) / 2]);
  close(own.gradients["head:v2"], [(0.3 - 0.7) / 2, 0, (0.3 - 0.6) / 2]);
  const least = weigh(turnCritic, { gamma: 0.9, twins: "least" }, { ...input, now });
  const least4 = square(0.5 - 0.09, 0.7 - 0.09, 0.4 - 1, 0.6 - 1);
  assert.ok(near(least.loss, (least4 + square(0.2 - 0.5, 0.3 - 0.5, 0.1 - 0.4, 0.3 - 0.4)) / 2 / 2));
  close(least.gradients["head:q1"], [0, (0.5 - 0.09) / 2, (0.4 - 1) / 2]);
});

test("a group of one, and no pair at all: nothing to learn from, and no error", () => {
  const alone = inputOf([{ ratios: [0.3], reward: 1 }]);
  for (const { loss, gradients } of [
    weigh(dpo, {}, alone),
    weigh(copg, {}, alone),
    weigh(pacs, {}, alone),
    weigh(nft, {}, alone),
  ]) {
    assert.equal(loss, 0);
    assert.ok(gradients.logp!.every((value) => value === 0));
  }
});

test("what is missing is named: the reference's log-probs, successes, a value head", () => {
  const input = inputOf([
    { ratios: [0.1], reward: 1 },
    { ratios: [0.2], reward: 0 },
  ]);
  const names =
    (pattern: RegExp) =>
    (error: unknown): boolean =>
      error instanceof UserError && pattern.test(error.message);
  assert.throws(() => weigh(dpo, {}, { ...input, old: { logp: input.old.logp! } }), names(/logp:reference/));
  assert.throws(() => weigh(nft, {}, { ...input, success: Uint8Array.of(2, 2) }), names(/succeed/));
  assert.throws(() => weigh(valueClipped, { head: "other" }, input), names(/head:other/));
  const infinite = { ...input, now: { logp: Float64Array.of(Number.NEGATIVE_INFINITY, -1) } };
  assert.throws(() => weigh(dpo, {}, infinite), names(/-Infinity at token 0 of rollout g#0/));
});
