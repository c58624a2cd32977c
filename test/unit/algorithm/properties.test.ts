/** What must hold of rewards → advantages → loss and gradients, whatever the options: over random rollouts. */
import assert from "node:assert/strict";
import { test } from "node:test";
import {
  explain,
  type ExplainedRollout,
  type ExplainedStep,
} from "../../../server/analysis/explain/explain.ts";
import { randomStream, type Random } from "../../../server/lib/random.ts";
import type { RolloutRow } from "../../../shared/rollouts/rollouts.ts";
import { Algorithm, contextOf } from "../../../server/algorithm/algorithm.ts";
import { configOf } from "../support.ts";
import { batchOf as engineBatch, open, plan, randomRows, stir } from "../engine/support.ts";

interface Result {
  readonly rollouts: ReadonlyMap<string, ExplainedRollout>;
  readonly steps: readonly ExplainedStep[];
}
const terms =
  "tasks: [{ env: countdown }]\nreward: { terms: { right: { use: equation }, short: { use: length, weight: 0.3 } } }\n";
const keyOf = ({ group, index }: Pick<RolloutRow, "group" | "index">): string => `${group}#${index}`;

function resultOf(text: string, rows: readonly RolloutRow[]): Result {
  const recorded = rows.map((row, line) => ({ row, place: { file: "rollouts.jsonl", line } }));
  const lines = [...explain(configOf(`${terms}${text}\n`), recorded)];
  return {
    rollouts: new Map(
      lines.flatMap((line) => (line.type === "rollout" ? [[keyOf(line), line] as const] : [])),
    ),
    steps: lines.flatMap((line) => (line.type === "summary" ? [line] : [])),
  };
}

/** Every baseline, scale, objective, aggregate and KL place that the tests below vary. */
const configs = [
  "advantage: { baseline: group_mean, scale: group_std }",
  "advantage: { baseline: leave_one_out, scale: none }\nobjective: { use: reinforce, aggregate: token_mean }",
  "advantage: { baseline: group_mean, scale: batch_std }\nobjective: { use: clipped, low: 0.1, high: 0.3, aggregate: { use: sequence_sum_norm, budget: 40 } }",
  "advantage: { baseline: none, scale: none }\nkl: [{ model: reference, estimator: k3, coefficient: 0.05 }]",
  "advantage: { baseline: group_mean, scale: none }\nkl: [{ model: reference, estimator: k1, place: reward, coefficient: 0.1 }]",
] as const;

const numbers = (random: Random, count: number, from: number, to: number): number[] =>
  Array.from({ length: count }, () => from + (to - from) * random.next());

function randomRollouts(seed: number): RolloutRow[] {
  const random = randomStream(seed, "properties");
  return Array.from({ length: 5 }, (_, group) =>
    Array.from({ length: 2 + random.integer(5) }, (_, index): RolloutRow => {
      const length = 1 + random.integer(9);
      const old = numbers(random, length, -3, -0.1);
      return {
        step: 0,
        group: `g${group}`,
        index,
        tokens: Array.from({ length }, () => random.integer(50)),
        origin: old.map((_, i) => (i > 0 && random.integer(6) === 0 ? "observed" : "written")),
        rewards: { right: random.integer(2), short: -random.next() },
        logp_old: old,
        logp_new: old.map((value) => value + 0.5 * (random.next() - 0.5)),
        logp_ref: old.map((value) => value + 0.3 * (random.next() - 0.5)),
      };
    }),
  ).flat();
}

const same = (one: unknown, other: unknown, what: string, tolerance = 1e-9): void => {
  const [a, b] = [Number(one), Number(other)];
  assert.ok(Math.abs(a - b) <= tolerance * Math.max(1, Math.abs(b)), `${what}: ${a} and ${b}`);
};
function sameRollout(one: ExplainedRollout, other: ExplainedRollout, what: string, tolerance?: number): void {
  for (const key of ["advantages", "weights", "grad_logp"] as const)
    other[key]!.forEach((value, i) =>
      same(one[key]![i], value, `${what} ${keyOf(other)} ${key}[${i}]`, tolerance),
    );
  same(one.reward, other.reward, `${what} reward`);
}
function sameResult(one: Result, other: Result, what: string, tolerance?: number): void {
  assert.equal(one.rollouts.size, other.rollouts.size);
  for (const [key, rollout] of other.rollouts) sameRollout(one.rollouts.get(key)!, rollout, what, tolerance);
  assert.equal(one.steps.length, other.steps.length);
  other.steps.forEach((step, i) => same(one.steps[i]!.loss, step.loss, `${what} loss`, tolerance));
}

function shuffled<Item>(items: readonly Item[], seed: number): Item[] {
  const random = randomStream(seed, "shuffle");
  return items
    .map((item) => ({ item, at: random.next() }))
    .sort((a, b) => a.at - b.at)
    .map(({ item }) => item);
}

test("rollouts in another order have the same results", () => {
  configs.forEach((config, seed) => {
    const rows = randomRollouts(seed);
    sameResult(resultOf(config, shuffled(rows, seed)), resultOf(config, rows), config);
  });
});

/** Every rollout as long as the longest and `more`, with tokens that never train. */
function padded(rows: readonly RolloutRow[], more: number): RolloutRow[] {
  const longest = Math.max(...rows.map(({ tokens = [] }) => tokens.length)) + more;
  return rows.map((row) => {
    const rest = <Value>(values: readonly Value[], value: Value): Value[] => [
      ...values,
      ...Array.from({ length: longest - row.tokens!.length }, () => value),
    ];
    return {
      ...row,
      tokens: rest(row.tokens!, 0),
      origin: rest<"written" | "observed" | "given">(row.origin!, "observed"),
      logp_old: rest(row.logp_old!, null),
      logp_new: rest(row.logp_new!, null),
      logp_ref: rest(row.logp_ref!, null),
    };
  });
}

test("padding, which never trains, changes nothing", () => {
  configs.forEach((config, seed) => {
    const rows = randomRollouts(seed + 20);
    sameResult(resultOf(config, padded(rows, 3)), resultOf(config, rows), config);
  });
});

/** What the loss adds up stretch by stretch: ratios of responses, bounds, rules, KL terms with factors of their own. */
const stretched = [
  "objective: { use: clipped, ratio: sequence, low: 0.01, high: 0.02, aggregate: sequence_mean }\nkl: [{ model: reference, estimator: k3, coefficient: 0.05, mask: wrong, aggregate: sequence_sum }]",
  "objective: { use: clipped, clamp_log_ratio: 0.1, aggregate: token_mean }\nkl: [{ model: reference, estimator: k2, coefficient: 0.05, importance_weighted: true }, { model: reference, estimator: k3, coefficient: 0.2, aggregate: token_mean }]",
  "objective: { use: cispo, high: 0.1, aggregate: sequence_sum, correction: [{ use: truncate, numerator: now, denominator: behaviour, high: 1.01 }] }",
  "objective: { use: kl_cov, share: 0.1, ratio: sequence }\nkl: [{ model: reference, estimator: k1, coefficient: 0.1 }]",
  "objective: { use: dppo_tv, low: 0.02, high: 0.02 }",
  "objective: { use: nft }\nkl: [{ model: reference, estimator: k3, coefficient: 0.05 }]",
  "advantage: { baseline: group_mean, scale: none, level: token, gamma: 0.9 }\nobjective: { use: sapo }\nkl: [{ model: reference, estimator: k1, place: reward, coefficient: 0.1 }]",
];

test("neither does so much of it that the loss is added up in many stretches", () => {
  [...configs, ...stretched].forEach((config, seed) => {
    const rows = randomRollouts(seed + 60);
    sameResult(resultOf(config, padded(rows, 1500)), resultOf(config, rows), config);
  });
});

test("rewards that are scaled and shifted leave advantages under a spread as they are", () => {
  for (const scale of ["group_std", "batch_std"])
    for (const baseline of ["group_mean", "leave_one_out"]) {
      const config = `advantage: { baseline: ${baseline}, scale: { use: ${scale}, epsilon: 0 } }`;
      const rows = randomRollouts(40);
      // A shift of each group's rewards goes with the baseline only where the spread is the group's own.
      const shift = scale === "group_std" ? 5 : 0;
      const scaled = rows.map((row) => ({
        ...row,
        rewards: {
          right: 7 * Number(row.rewards!["right"]) + shift,
          short: 7 * Number(row.rewards!["short"]),
        },
      }));
      const [one, other] = [resultOf(config, scaled), resultOf(config, rows)];
      for (const [key, { advantages }] of other.rollouts)
        advantages.forEach((value, i) =>
          same(one.rollouts.get(key)!.advantages[i], value, `${config} ${key}`, 1e-8),
        );
      same(one.steps[0]!.loss, other.steps[0]!.loss, config, 1e-8);
    }
});

test("without a scale, scaled rewards scale advantages and the surrogate's gradient", () => {
  const config = "advantage: { baseline: group_mean, scale: none }";
  const rows = randomRollouts(41);
  const doubled = rows.map((row) => ({
    ...row,
    rewards: { right: 2 * Number(row.rewards!["right"]), short: 2 * Number(row.rewards!["short"]) },
  }));
  const [one, other] = [resultOf(config, doubled), resultOf(config, rows)];
  for (const [key, { advantages, grad_logp }] of other.rollouts) {
    advantages.forEach((value, i) => same(one.rollouts.get(key)!.advantages[i], 2 * Number(value), key));
    grad_logp!.forEach((value, i) => same(one.rollouts.get(key)!.grad_logp![i], 2 * Number(value), key));
  }
});

test("advantages of a group sum to zero under a baseline of the group", () => {
  for (const baseline of ["group_mean", "leave_one_out"])
    for (const scale of ["none", "group_std", "batch_std"])
      for (let seed = 0; seed < 5; seed++) {
        const { rollouts } = resultOf(
          `advantage: { baseline: ${baseline}, scale: ${scale} }`,
          randomRollouts(60 + seed),
        );
        const sums = new Map<string, number>();
        for (const { group, advantages, weights } of rollouts.values()) {
          const trained = advantages.find((_, i) => weights[i] !== 0);
          if (trained !== undefined) sums.set(group, (sums.get(group) ?? 0) + Number(trained));
        }
        for (const [group, sum] of sums) same(sum, 0, `${baseline}, ${scale}, ${group}`);
      }
});

test("a step's other groups change nothing of a group's advantages where the spread is the group's own", () => {
  const config = "advantage: { baseline: group_mean, scale: group_std }";
  const rows = randomRollouts(80);
  const all = resultOf(config, rows);
  const alone = resultOf(
    config,
    rows.filter(({ group }) => group === "g2"),
  );
  for (const [key, { advantages }] of alone.rollouts)
    advantages.forEach((value, i) => same(all.rollouts.get(key)!.advantages[i], value, key));
});

test("however the engine cuts the mini-batch, the chain's loss trains the same weights", async () => {
  const rows = randomRows([
    [5, 6],
    [1, 3],
    [9, 12],
    [2, 1],
    [3, 20],
    [4, 5],
  ]);
  const body = configOf(
    `${terms}objective: { use: clipped, aggregate: sequence_mean }\nkl: [{ model: reference, estimator: k3, coefficient: 0.05 }]\n`,
  ).top;
  const algorithm = new Algorithm(body, contextOf(body, { random: randomStream(1, "properties") }));
  const batch = engineBatch(rows);
  const count = batch.tokens.length;
  const random = randomStream(2, "properties");
  const column = (from: number, to: number): Float64Array =>
    Float64Array.from(numbers(random, count, from, to));
  const [advantages, logp, reference] = [column(-1, 1), column(-6, -3), column(-6, -3)];
  const clock = { step: 0, stageStep: 0 };
  const update = {
    old: { logp, "logp:reference": reference },
    advantages,
    weights: new Float64Array(count).fill(1),
  };
  const results = [];
  for (const options of [{}, { micro_tokens: 24 }, { micro_tokens: 40, kept_bytes: 0 }]) {
    const policy = await open(options);
    stir(policy);
    results.push(policy.gradients(batch, plan(["logp"]), algorithm.weigh(update, clock)));
    policy.close();
  }
  const [whole, ...cut] = results;
  for (const other of cut)
    for (const [name, values] of Object.entries(whole!)) {
      const size = values.reduce((most, value) => Math.max(most, Math.abs(value)), 1e-3);
      values.forEach((value, i) => assert.ok(Math.abs(value - other[name]![i]!) < 1e-4 * size, name));
    }
});
