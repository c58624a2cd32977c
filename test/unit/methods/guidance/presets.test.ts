/** The presets of guidance: their choices, and where a formula is the paper's own, its number. */
import assert from "node:assert/strict";
import { resolve } from "node:path";
import { test } from "node:test";
import { Algorithm, contextOf } from "../../../../server/algorithm/algorithm.ts";
import { tokensOf } from "../../../../server/algorithm/advantages/tokenColumn.ts";
import { loadConfig } from "../../../../server/rules/load.ts";
import type { StageBody } from "../../../../server/core/config/resolved.ts";
import { randomStream } from "../../../../server/lib/random.ts";
import { origin, type Batch } from "../../../../server/core/rollouts.ts";
import type { Stats } from "../../../../server/core/policy.ts";
import { batchOf } from "../../../support/batch.ts";

function bodyOf(preset: string): StageBody {
  const { config, diagnostics } = loadConfig(resolve("any.gradus.yaml"), {
    text: `extends: ${preset}\ntasks: [{ env: arithmetic }]\nreward: { terms: { correct: numeric } }\n`,
  });
  assert.ok(config, diagnostics.map(({ message }) => message).join("\n"));
  return config.top;
}

/** trigger × source × amount × context × ratio × place. */
const choices: Readonly<Record<string, string>> = {
  ghpo: "all_fail solution ladder keep same_context replace",
  guide: "all_fail hint fixed strip true_behaviour append",
  egsr: "all_fail reformulate fixed strip recomputed replace",
  seele: "always solution irt keep imitation replace",
  ruscarl: "always rubric group_gradient strip recomputed replace",
  ampo: "all_fail teacher fixed keep shaped replace",
  luffy: "always demonstration fixed keep shaped replace",
  "rl-plus": "always demonstration fixed keep multiple_importance replace",
  "rex-rag": "wrong probe fixed keep mixture append",
  thinktuning: "fraction feedback fixed keep shaped replace",
  rlgf: "fraction guide uniform keep same_context replace",
  "agent-rlvr": "all_fail feedback fixed strip same_context append",
  "prefix-rft": "always solution uniform keep same_context replace",
  sparkle: "always solution levels keep same_context replace",
  ppe: "always instruction fixed keep same_context replace",
};

for (const [preset, wanted] of Object.entries(choices))
  test(`${preset} is ${wanted}`, () => {
    const { trigger, source, amount, context, ratio, place } = bodyOf(preset).guidance;
    const names = [trigger, source, amount].map(({ declaration: { name } }) => name);
    assert.equal([...names, context, ratio.declaration.name, place].join(" "), wanted);
  });

test("parameters are the papers'", () => {
  assert.deepEqual(bodyOf("ghpo").guidance.amount.params["steps"], [0.25, 0.5, 0.75]);
  assert.equal(bodyOf("ghpo").guidance.source.params["place"], "prompt");
  const { slope, middle } = bodyOf("ruscarl").guidance.amount.params;
  assert.deepEqual({ slope, middle }, { slope: 125, middle: 0.2 });
  assert.equal(bodyOf("seele").guidance.amount.params["target"], 0.5);
  const { rollout, objective, kl } = bodyOf("luffy");
  assert.deepEqual(
    { group: rollout.group, temperature: rollout.temperature, kl },
    { group: 8, temperature: 1, kl: [] },
  );
  assert.deepEqual(
    { entropy: objective.entropy, low: objective.loss.params["low"], high: objective.loss.params["high"] },
    { entropy: 0.001, low: 1, high: 1e9 },
  );
  for (const preset of ["ampo", "luffy", "thinktuning"])
    assert.equal(bodyOf(preset).guidance.ratio.params["gamma"], 0.1);
  for (const preset of ["ampo", "luffy", "rl-plus"])
    assert.equal(bodyOf(preset).advantage.scale.declaration.name, "none");
  assert.equal(bodyOf("stepcoder").curriculum.start.declaration.name, "reverse");
  assert.deepEqual(bodyOf("srpo").route, [{ when: ["wrong", "sibling"], to: "distil" }]);
});

/** A demonstration of two tokens next to a token of the policy's own. */
const batch: Batch = batchOf(
  [
    { context: [1], tokens: [2] },
    {
      context: [1],
      tokens: [5, 6],
      origin: [origin.given, origin.given],
      record: { source: "dataset", help: { use: "demonstration", round: 0 } },
    },
  ],
  {},
  { mask: Uint8Array.of(1, 1, 1) },
);
const before = Float64Array.of(Math.log(0.5), Math.log(0.2), Math.log(0.8));
const old: Stats = {
  logp: Float64Array.of(before[0]!, Number.NaN, Number.NaN),
  "logp:proximal": before,
};
const advantages = Float64Array.of(-0.5, 0.5, 0.5);
const clock = { step: 0, stageStep: 0 };

/** Per token, what its loss is by the preset with its normaliser replaced by a sum. */
function gradientsOf(preset: string, now: Float64Array): Float64Array {
  const body = bodyOf(preset);
  const sum = loadConfig(resolve("any.gradus.yaml"), {
    text: `tasks: [{ env: arithmetic }]\nreward: { terms: { correct: numeric } }\nobjective: { aggregate: token_sum }\n`,
  }).config!.top.objective.aggregate;
  const algorithm = new Algorithm(
    { ...body, objective: { ...body.objective, aggregate: sum } },
    contextOf(body, { random: randomStream(1) }),
  );
  const known = { tokens: advantages, rows: new Float64Array(2), exists: new Uint8Array(3).fill(1) };
  const weights = algorithm.tokenWeights(batch, known, old, clock);
  return algorithm.weigh({ old, advantages, weights }, clock)(
    { logp: now, entropy: new Float64Array(3) },
    batch,
  ).gradients.logp!;
}
const near = (a: number, b: number): void => assert.ok(Math.abs(a - b) < 1e-12, `${a} is not ${b}`);

test("RL-PLUS: 2π/(π_old + ½(π_old + 1)) times A (1 − π)^½ on the demonstration, plain ratio next to it", () => {
  const now = Float64Array.of(Math.log(0.9), Math.log(0.3), Math.log(0.7));
  const slopes = gradientsOf("rl-plus", now);
  near(slopes[0]!, 0.5 * (0.9 / 0.5));
  // The weight is of the policy as it is: 0.3 and 0.7, and not what the step found.
  near(slopes[1]!, (-0.5 * Math.sqrt(0.7) * 2 * 0.3) / (0.2 + 0.6));
  near(slopes[2]!, (-0.5 * Math.sqrt(0.3) * 2 * 0.7) / (0.8 + 0.9));
});

test("LUFFY and AMPO: the slope of π/(π + 0.1) on what a teacher wrote", () => {
  const now = Float64Array.of(Math.log(0.5), Math.log(0.3), Math.log(0.7));
  for (const preset of ["luffy", "ampo"]) {
    const slopes = gradientsOf(preset, now);
    near(slopes[0]!, 0.5);
    near(slopes[1]!, (-0.5 * 0.1 * 0.3) / 0.4 ** 2);
    near(slopes[2]!, (-0.5 * 0.1 * 0.7) / 0.8 ** 2);
  }
});

test("Prefix-RFT: the prefix has an advantage of its own, a clip of its own, and trains where it is uncertain", () => {
  const body = bodyOf("prefix-rft");
  const prefix = (
    tokens: number[],
    written: number[],
    index: number,
  ): Parameters<typeof batchOf>[0][number] => ({
    context: [1],
    tokens: [...tokens, ...written],
    origin: [...tokens.map(() => origin.given), ...written.map(() => origin.written)],
    record: { index, source: "guided", help: { use: "solution", round: 0 } },
  });
  const rows = batchOf(
    [
      { context: [1], tokens: [9] },
      { context: [1], tokens: [9] },
      prefix([5, 6, 7, 8, 4], [3], 2),
      prefix([5], [2], 3),
      prefix([5], [2], 4),
    ],
    {},
    { mask: new Uint8Array(12).fill(1) },
  );
  const algorithm = new Algorithm(body, contextOf(body, { random: randomStream(1) }));
  const total = Float64Array.of(0, 1, 1, 1, 0);
  const combined = {
    sources: [
      {
        name: "correct",
        level: "response" as const,
        status: new Uint8Array(5),
        offsets: Int32Array.of(0, 1, 2, 3, 4, 5),
        values: total,
        errors: new Map(),
      },
    ],
    total,
    errored: new Uint8Array(5),
  };
  const found = algorithm.advantages(combined, rows, {}, clock);
  // Plain rollouts earn 0 and 1; one goes on from a prefix of its own and earns 1; two share a prefix and earn 1 and 0.
  near(found.tokens[0]!, -0.5);
  near(found.tokens[1]!, 0.5);
  for (const i of [2, 3, 4, 5, 6]) near(found.tokens[i]!, 1 - 0.5);
  near(found.tokens[7]!, 1);
  near(found.tokens[8]!, (0.5 - 0.5) / 2);
  near(found.tokens[9]!, 0.5);
  near(found.tokens[10]!, (-0.5 - 0.5) / 2);
  near(found.tokens[11]!, -0.5);
  // A row counts as its trained tokens do on average.
  near(found.rows[2]!, (5 * 0.5 + 1) / 6);

  // Of the seven given tokens the quantile of 0.8 keeps the two most uncertain.
  const then = new Float64Array(12).fill(-1);
  const now = new Float64Array(12).fill(-1);
  now[3] = -1 + Math.log(1.5);
  const weights = tokensOf(algorithm.tokenWeights(rows, found, { logp: then }, clock));
  const entropy = Float64Array.of(3, 3, 0.1, 1.9, 0.3, 1.5, 0.2, 3, 0.4, 3, 0.5, 3);
  const { gradients } = algorithm.weigh(
    { old: { logp: then, "logp:proximal": then }, advantages: found.tokens, weights },
    clock,
  )({ logp: now, entropy }, rows);
  assert.deepEqual(
    [2, 3, 4, 5, 6, 8, 10].map((i) => gradients.logp![i] !== 0),
    [false, false, false, true, false, false, false],
    "the most uncertain is past its clip at 1.2",
  );
  // The mean is over all tokens, those that the mask leaves out among them.
  near(gradients.logp![5]!, -0.5 / 12);
});

test("PPO++: the critic and the loss see what the policy generated, after what the guide gave", () => {
  const body = bodyOf("rlgf");
  assert.equal(body.advantage.baseline.declaration.name, "critic");
  const rows = batchOf(
    [
      {
        context: [1],
        tokens: [5, 6, 7, 8],
        origin: [origin.given, origin.given, origin.written, origin.written],
        record: {
          source: "guided",
          help: { use: "guide", round: 0 },
          spans: { help: [[0, 2]] },
        },
      },
      { context: [1], tokens: [7, 8] },
    ],
    { logp_old: Float64Array.of(Number.NaN, Number.NaN, -1, -1, -1, -1) },
    { mask: Uint8Array.of(0, 0, 1, 1, 1, 1) },
  );
  const algorithm = new Algorithm(body, contextOf(body, { random: randomStream(1) }));
  const masked = algorithm.masked(rows);
  assert.deepEqual([...masked.mask], [0, 0, 1, 1, 1, 1]);
  const values = Float64Array.of(9, 9, 0.2, 0.6, 0.5, 0.5);
  const stats: Stats = {
    logp: rows.columns.logp_old!,
    "logp:reference": rows.columns.logp_old!,
    "head:value": values,
  };
  const combined = {
    sources: [
      {
        name: "correct",
        level: "response" as const,
        status: new Uint8Array(2),
        offsets: Int32Array.of(0, 1, 2),
        values: Float64Array.of(1, 0),
        errors: new Map(),
      },
    ],
    total: Float64Array.of(1, 0),
    errored: new Uint8Array(2),
  };
  const { tokens } = algorithm.advantages(combined, masked, stats, clock);
  // γ = λ = 1: r − V of each written token, standardised over those that train.
  const raw = [0.8, 0.4, -0.5, -0.5];
  const mean = raw.reduce((sum, one) => sum + one, 0) / 4;
  const spread = Math.sqrt(raw.reduce((sum, one) => sum + (one - mean) ** 2, 0) / 3);
  raw.forEach((one, i) => assert.ok(Math.abs(tokens[i + 2]! - (one - mean) / spread) < 1e-6, `${tokens}`));
});
