/** The whole chain of a config: levels, returns, sources apart, penalties, whitening, signs, filters, prefixes. */
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Stats } from "../../../../server/core/policy.ts";
import type { RolloutRow } from "../../../../shared/rollouts/rollouts.ts";
import { row } from "../../support.ts";
import { Chain, close, paid } from "./support.ts";

const tokenwise = (values: readonly number[]): { level: "token"; values: readonly number[] } => ({
  level: "token",
  values,
});

const prm = [
  [0.1, -0.2, 0.3],
  [0, 0.4],
  [-0.3, 0.1, -0.1, 0.1],
];
const primeRows = prm.map((values, i): RolloutRow =>
  row("g", i, {
    tokens: values.map((_, t) => t),
    rewards: { right: i === 0 ? 1 : 0, prm: tokenwise(values) },
  }),
);

test("PRIME: outcome and process leave-one-out apart, by the paper and by its code", () => {
  const of = (own: string): number[][] =>
    new Chain(
      `{ baseline: { use: leave_one_out, own: ${own} }, scale: none, per_source: true, level: token }`,
      "",
      ["right", "prm"],
    ).tokens(primeRows);
  close(of("as_is").slice(0, 1), [[0.975, 0.95, 1.225]]);
  close(of("scaled").slice(0, 1), [[0.975, 0.9333, 1.3417]], 5e-5);
  // They agree at the first token, whoever it is of.
  of("as_is").forEach((tokens, i) => assert.ok(Math.abs(tokens[0]! - of("scaled")[i]![0]!) < 1e-12));
});

const steps = [
  [0, 2],
  [2, 3],
  [3, 5],
  [5, 6],
] as const;

test("VinePPO: prefix values ¼ ½ 1 ¾ and reward 1 give ¼ ½ −¼ ¼, from branches or recorded values", () => {
  const values = [0.25, 0.25, 0.5, 1, 1, 0.75];
  const rows = [paid("g", 0, 1, 6, { steps, values })];
  const expected = [[0.25, 0.25, 0.5, -0.25, -0.25, 0.25]];
  close(new Chain("{ baseline: monte_carlo, scale: none }").tokens(rows), expected);
  close(
    new Chain("{ baseline: { use: critic, lambda: 0 }, level: step, scale: none }").tokens(rows),
    expected,
  );
  const branch = (index: number, token: number, reward: number): RolloutRow =>
    paid("g", index, reward, 1, { use: "estimate", parent: { index: 0, token } });
  const branched = [
    paid("g", 0, 1, 6, { steps }),
    branch(1, 0, 0),
    branch(2, 0, 0.5),
    branch(3, 2, 0.5),
    branch(4, 3, 1),
    branch(5, 5, 0.75),
  ];
  close(new Chain("{ baseline: monte_carlo, scale: none }").tokens(branched).slice(0, 1), expected);
  // Without a branch at its beginning a step is joined to the one before.
  close(
    new Chain("{ baseline: monte_carlo, scale: none }")
      .tokens(branched.filter(({ index }) => index !== 4))
      .slice(0, 1),
    [[0.25, 0.25, 0.25, 0.25, 0.25, 0.25]],
  );
});

/** A_t = Σ_k (γλ)^k δ_{t+k}, by the definition. */
function gae(rewards: readonly number[], values: readonly number[], gamma: number, lambda: number): number[] {
  const delta = rewards.map((r, t) => r + gamma * (values[t + 1] ?? 0) - values[t]!);
  return delta.map((_, t) => delta.slice(t).reduce((sum, d, k) => sum + (gamma * lambda) ** k * d, 0));
}

test("GAE by its definition; λ = 1 is the return minus the value, λ = 0 the TD error; observations pass", () => {
  const values = [0.3, -0.2, 0.7, 0.4];
  const rows = [paid("g", 0, 2, 4, { values })];
  for (const [gamma, lambda] of [
    [1, 1],
    [0.9, 0.95],
    [1, 0],
    [0.5, 0.5],
  ] as const) {
    const chain = new Chain(`{ baseline: { use: critic, lambda: ${lambda} }, gamma: ${gamma}, scale: none }`);
    close(chain.tokens(rows), [gae([0, 0, 0, 2], values, gamma, lambda)]);
  }
  const observed = paid("g", 0, 2, 6, {
    values: [0.3, 9, -0.2, 9, 0.7, 0.4],
    origin: ["written", "observed", "written", "observed", "written", "written"],
  });
  const skipping = new Chain("{ baseline: { use: critic, lambda: 0.9 }, gamma: 0.8, scale: none }");
  const expected = gae([0, 0, 0, 2], values, 0.8, 0.9);
  close(skipping.tokens([observed]), [[expected[0]!, 0, expected[1]!, 0, expected[2]!, expected[3]!]]);
  // Counting them, they are steps without value or reward.
  const counting = new Chain(
    "{ baseline: { use: critic, lambda: 0.9 }, gamma: 0.8, scale: none, observations: discount }",
  );
  const whole = gae([0, 0, 0, 0, 0, 2], [0.3, 0, -0.2, 0, 0.7, 0.4], 0.8, 0.9);
  close(counting.tokens([observed]), [[whole[0]!, 0, whole[2]!, 0, whole[4]!, whole[5]!]]);
});

test("GAE's λ by length, what its critic learns from, the value beyond a cut, and level response", () => {
  const values = [0.3, -0.2, 0.7, 0.4];
  const rows = [paid("g", 0, 2, 4, { values })];
  const byLength = new Chain(
    "{ baseline: { use: critic, lambda: { length: 0.5 }, lambda_returns: 1 }, scale: none }",
  );
  close(byLength.tokens(rows), [gae([0, 0, 0, 2], values, 1, 1 - 1 / (0.5 * 4))]);
  close([[...byLength.advantages(rows).returns!]], [[2, 2, 2, 2]]);
  const cut = [paid("g", 0, 2, 4, { values, finish: "length" })];
  close(
    new Chain("{ baseline: { use: critic, lambda: 0, truncated: last_value }, scale: none }").tokens(cut),
    [[-0.5, 0.9, -0.3, 2]],
  );
  close(new Chain("{ baseline: critic, level: response, scale: none }").tokens(rows), [[1.7, 1.7, 1.7, 1.7]]);
  assert.throws(
    () => new Chain("{ baseline: critic, scale: none }").tokens([paid("g", 0, 1)]),
    /needs the values of head value/,
  );
  assert.throws(
    () => new Chain("{ baseline: critic, scale: none }").tokens([paid("g", 0, 1, 2, { values: [1, null] })]),
    /value of rollout 0 of group g is NaN/,
  );
});

test("process supervision: step rewards are standardised over the group's steps, then summed to go", () => {
  const step = (values: readonly number[]): { level: "step"; values: readonly number[] } => ({
    level: "step",
    values,
  });
  const rows = [
    paid("g", 0, step([1, 0]), 3, {
      steps: [
        [0, 2],
        [2, 3],
      ],
    }),
    paid("g", 1, step([2, 5]), 2, {
      steps: [
        [0, 1],
        [1, 2],
      ],
    }),
  ];
  const std = Math.sqrt([1, 0, 2, 5].reduce((sum, r) => sum + (r - 2) ** 2, 0) / 4);
  const chain = "baseline: group_mean, scale: { use: group_std, population: true, epsilon: 0 }, level: step";
  const z = [-1, -2, 0, 3].map((d) => d / std);
  close(new Chain(`{ ${chain} }`).tokens(rows), [
    [z[0]! + z[1]!, z[0]! + z[1]!, z[1]!],
    [z[2]! + z[3]!, z[3]!],
  ]);
  close(new Chain(`{ ${chain}, returns: none }`).tokens(rows), [
    [z[0]!, z[0]!, z[1]!],
    [z[2]!, z[3]!],
  ]);
  // By place: first steps with first steps.
  close(
    new Chain(
      "{ baseline: { use: group_mean, among: place }, scale: none, level: step, returns: none }",
    ).tokens(rows),
    [
      [-0.5, -0.5, -2.5],
      [0.5, 2.5],
    ],
  );
});

test("turns without trained tokens belong to the turn before; a turn's reward falls to its last unit", () => {
  const turns = [
    { role: "assistant", start: 0, end: 2 },
    { role: "tool", start: 2, end: 3 },
    { role: "assistant", start: 3, end: 5 },
  ];
  const origin = ["written", "written", "observed", "written", "written"] as const;
  const of = (level: string, rest = ""): number[][] =>
    new Chain(`{ baseline: none, scale: none, level: ${level}${rest} }`).tokens([
      paid("g", 0, { level: "turn", values: [1, 10, 100] }, 5, { turns, origin }),
    ]);
  close(of("turn"), [[111, 111, 111, 100, 100]]);
  close(of("turn", ", gamma: 0.5"), [[61, 61, 61, 100, 100]]);
  close(of("segment", ", returns: none"), [[11, 11, 11, 100, 100]]);
  close(of("token", ", gamma: 0.5"), [[1 * 0.5 + 10 * 0.5 + 100 * 0.125, 11 + 25, 0, 50, 100]]);
  close(of("token", ", gamma: 0.5, observations: discount"), [[5.5 + 6.25, 11 + 12.5, 0, 50, 100]]);
  close(of("response"), [[111, 111, 111, 111, 111]]);
});

const stats = (...columns: readonly [readonly number[], readonly number[]]): Stats => ({
  logp: Float64Array.from(columns[0]),
  "logp:reference": Float64Array.from(columns[1]),
});
const kl = "kl: [{ model: reference, estimator: k1, place: reward, coefficient: 0.5 }]";

test("a KL penalty in the reward: part of it, as returns to go at token level, or apart from the baseline", () => {
  const rows = [paid("g", 0, 1, 2), paid("g", 1, 0, 2)];
  const columns = stats([-1, -2, -1, -1], [-2, -4, -1, -3]);
  // Penalties per token: ½ 1, and 0 1; sums 1.5 and 1.
  close(new Chain("{ baseline: group_mean, scale: none }", kl).tokens(rows, columns), [
    [0.25, 0.25],
    [-0.25, -0.25],
  ]);
  // REINFORCE++ before whitening: discounted returns of rewards and penalties.
  close(new Chain("{ baseline: none, scale: none, level: token, gamma: 0.5 }", kl).tokens(rows, columns), [
    [-0.5, 0],
    [-0.5, -1],
  ]);
  // OpenRLHF: the reward is centred over the group, the penalties run to go uncentred.
  close(new Chain("{ baseline: group_mean, scale: none, penalty: apart }", kl).tokens(rows, columns), [
    [0.5 - 1.5, 0.5 - 1],
    [-0.5 - 1, -0.5 - 1],
  ]);
  // ReMax of verl: returns to go minus the greedy reward.
  const greedy = rows.map((one) => ({ ...one, reward_baseline: 0.25 }));
  close(
    new Chain("{ baseline: greedy, scale: none, level: token, returns: before }", kl).tokens(greedy, columns),
    [
      [-0.75, -0.25],
      [-1.25, -1.25],
    ],
  );
});

const two = [
  [1, 2],
  [0, null],
  [1, 0],
  [null, null],
] as const;
const scoredRows = two.map(([right, other], i) =>
  row(`g${i >> 1}`, i & 1, { tokens: [1], rewards: { right, other } }),
);
const weights =
  "reward: { terms: { right: { use: equation, weight: 2 }, other: { use: equation, weight: -0.5 } } }";

test("normalise, then sum: each term alone, then weighed; a term that does not apply adds nothing", () => {
  const chain = new Chain(
    "{ baseline: group_mean, scale: { use: group_std, epsilon: 0 }, per_source: true }",
    weights,
    ["right", "other"],
  );
  // right: 1 0 | 1; other: 2 | 0. A lone value has no spread, and gives 0.
  const half = Math.SQRT1_2;
  close(chain.tokens(scoredRows), [[2 * half], [-2 * half], [0], [0]]);
  const found = chain.advantages(scoredRows);
  assert.deepEqual([...found.exists], [1, 1, 1, 0]);
  assert.ok(Number.isNaN(found.rows[3]!));
  const counted = new Chain("{ baseline: group_mean, scale: none, unscored: zero }", weights, [
    "right",
    "other",
  ]).advantages(scoredRows);
  assert.deepEqual([[...counted.exists], counted.rows[3]], [[1, 1, 1, 1], 0]);
});

test("whitening over tokens or responses, by each framework's ε", () => {
  const rows = [paid("g", 0, 1, 3), paid("g", 1, 0, 1)];
  const of = (whiten: string): number[][] =>
    new Chain(`{ baseline: none, scale: none, whiten: ${whiten} }`).tokens(rows);
  // Tokens: 1 1 1 0, mean ¾, squares ¾.
  const verl = Math.sqrt(0.75 / 3 + 1e-8);
  close(of("tokens"), [[0.25 / verl, 0.25 / verl, 0.25 / verl], [-0.75 / verl]]);
  const openrlhf = Math.sqrt(0.75 / 4);
  close(of("{ over: tokens, population: true, inside: floor }"), [
    [0.25 / openrlhf, 0.25 / openrlhf, 0.25 / openrlhf],
    [-0.75 / openrlhf],
  ]);
  close(of("{ over: tokens, scale: false }"), [[0.25, 0.25, 0.25], [-0.75]]);
  const trl = Math.SQRT1_2 + 1e-4;
  close(of("responses"), [[0.5 / trl, 0.5 / trl, 0.5 / trl], [-0.5 / trl]]);
  close(new Chain("{ baseline: none, scale: none, whiten: tokens }").tokens([paid("g", 0, 0.1, 3)]), [
    [0, 0, 0],
  ]);
});

test("W-REINFORCE: λ for right and −1 for wrong; λ = 0 is NSR, factors 1 and 0 PSR", () => {
  const rows = [paid("g", 0, 1, 1), paid("g", 1, 0, 1)];
  const of = (positive: number, negative: number): number[][] =>
    new Chain(
      `{ baseline: constant, scale: sign, sign: { positive: ${positive}, negative: ${negative} } }`,
    ).tokens(rows);
  close(of(0.1, 1), [[0.1], [-1]]);
  close(of(0, 1), [[0], [-1]]);
  close(of(1, 0), [[1], [0]]);
});

test("filters: outliers become 0, others do not train", () => {
  const rows = [5, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0].map((reward, i) => paid("g", i, reward, 1));
  const of = (filter: string): { tokens: number[]; exists: number } => {
    const { tokens, exists } = new Chain(
      `{ baseline: group_mean, scale: none, filter: ${filter} }`,
    ).advantages(rows);
    return { tokens: [...tokens], exists: exists.reduce((sum, one) => sum + one, 0) };
  };
  assert.equal(of("{ sigma: 3 }").tokens[0], 0);
  assert.ok(of("{ sigma: 4 }").tokens[0]! > 0);
  assert.equal(of("{ beyond: 3 }").tokens[0], 0);
  assert.equal(of("{ keep: positive }").exists, 1);
  assert.equal(of("{ keep: negative }").exists, 11);
  assert.equal(of("{ top: 0.05 }").exists, 1);
  assert.equal(of("{ above: -1 }").exists, 12);
});

const tree = [
  paid("g", 0, 1, 4),
  paid("g", 1, 0, 2, { parent: { index: 0, token: 2 } }),
  paid("g", 2, 0.5, 1, { parent: { index: 1, token: 1 } }),
  paid("g", 3, 0.5, 1),
];

test("a tree: each stretch gets what its leaves gain on the state it began from, or on its siblings", () => {
  const of = (against: string): number[][] =>
    new Chain(`{ baseline: { use: tree_siblings, against: ${against} }, scale: none }`).tokens(tree);
  // Leaves 1, 0, ½, ½: mean ½. Below token 2 of row 0: 1, 0, ½.
  close(of("parent"), [[0, 0, 0.5, 0.5], [0.25 - 0.5, 0 - 0.25], [0.5 - 0.25], [0.5 - 0.5]]);
  close(of("siblings"), [
    [0.5 - 0.5, 0.5 - 0.5, 1 - 0.25, 1 - 0.25],
    [0.25 - 1, 0 - 0.5],
    [0.5 - 0],
    [0.5 - 0.5],
  ]);
});

test("shared prefixes: a token before a branching gets the mean over the rollouts that it is part of", () => {
  const chain = (prefix: string): number[][] =>
    new Chain(`{ baseline: none, scale: none, prefix: ${prefix} }`).tokens(tree);
  close(chain("soft"), [[1, 1, 1, 1], [0, 0], [0.5], [0.5]]);
  close(chain("hard"), [[0.5, 0.5, 1, 1], [0.25, 0], [0.5], [0.5]]);
});

test("the optimal token baseline, by its formula", () => {
  const logp = [
    [-0.5, -1, -2],
    [-1, -0.2],
  ];
  const squares = [
    [0.5, 0.3, 0.2],
    [0.4, 0.8],
  ];
  const rows = [0, 1].map((i) =>
    paid("g", i, i === 0 ? 1 : 0.2, logp[i]!.length, {
      logp_old: logp[i]!,
      sum_pi_squared: squares[i]!,
    }),
  );
  const energy = logp.map((row, i) => {
    let sum = 0;
    return row.map((value, t) => (sum += 1 - 2 * Math.exp(value) + squares[i]![t]!));
  });
  const baseline = [0, 1].map(
    (t) => (1 * energy[0]![t]! + 0.2 * energy[1]![t]!) / (energy[0]![t]! + energy[1]![t]! + 1e-8),
  );
  const of = (more: string): number[][] =>
    new Chain(`{ baseline: { use: optimal_token_baseline${more} }, scale: none }`).tokens(rows);
  const shared = [
    [1 - baseline[0]!, 1 - baseline[1]!],
    [0.2 - baseline[0]!, 0.2 - baseline[1]!],
  ];
  close(of(""), [[...shared[0]!, 1], shared[1]!]);
  close(of(", align: trained"), [[...shared[0]!, 1], shared[1]!]);
  close(of(", zero_tail: false"), [
    [...shared[0]!, 1 - energy[0]![2]! / (energy[0]![2]! + 1e-8)],
    shared[1]!,
  ]);
  assert.throws(
    () => new Chain("{ baseline: optimal_token_baseline, scale: none }").tokens([paid("g", 0, 1)]),
    /needs logp_old of every token/,
  );
});

test("a turn critic: the least Q at the turn's end over the least V at its beginning", () => {
  const turns = [
    { role: "assistant", start: 0, end: 2 },
    { role: "assistant", start: 2, end: 3 },
  ];
  const heads: Stats = {
    "head:q1": Float64Array.of(0, 1, 3),
    "head:q2": Float64Array.of(0, 2, 2),
    "head:v1": Float64Array.of(0.5, 9, 1),
    "head:v2": Float64Array.of(0.75, 9, 0),
  };
  close(new Chain("{ baseline: turn_critic, scale: none }").tokens([paid("g", 0, 1, 3, { turns })], heads), [
    [0.5, 0.5, 2],
  ]);
});

test("an errored rollout leaves its group and does not train", () => {
  const rows = [
    paid("g", 0, 1, 1),
    paid("g", 1, 0, 1),
    { ...paid("g", 2, 0, 1), rewards: {}, errors: { right: "x" } },
  ];
  const chain = new Chain("{ baseline: group_mean, scale: none, unscored: zero }");
  close(chain.tokens(rows), [[0.5], [-0.5], [0]]);
  assert.deepEqual([...chain.advantages(rows).exists], [1, 1, 0]);
});
