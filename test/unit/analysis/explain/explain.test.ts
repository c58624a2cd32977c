import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { z } from "zod";
import { UserError } from "../../../../shared/lib/errors.ts";
import type { RolloutRow } from "../../../../shared/rollouts/rollouts.ts";
import { stageAt } from "../../../../server/analysis/explain/stageAt.ts";
import { readRollouts } from "../../../../server/analysis/recorded.ts";
import { configOf } from "../../support.ts";
import { close, explained, oneTerm as one, paidRow as row } from "./support.ts";

const refuses = async (
  text: string,
  rows: readonly (RolloutRow | string)[],
  message: RegExp,
  line: number,
): Promise<void> => {
  await assert.rejects(explained(text, rows), (error) => {
    assert.ok(error instanceof UserError, String(error));
    assert.match(error.message, message);
    assert.equal(error.detail.line, line);
    assert.ok(error.detail.file?.endsWith("rollouts.jsonl") && error.detail.action !== undefined);
    return true;
  });
};

test("a group of two, by hand: on policy without logp_old, no scale, token mean", async () => {
  const { rollouts, steps, order } = await explained(
    `${one}advantage: { scale: none }\nobjective: { use: clipped, aggregate: token_mean }\n`,
    [row("g", 0, 1), row("g", 1, 0, { logp_new: [-1], logp_old: [-1 - Math.log(1.5)] })],
  );
  assert.deepEqual(order, ["g#0", "g#1", "step 0"]);
  assert.deepEqual(
    rollouts.map(({ reward }) => reward),
    [1, 0],
  );
  assert.deepEqual(
    rollouts.map(({ advantages }) => advantages),
    [[0.5, 0.5], [-0.5]],
  );
  assert.deepEqual(
    rollouts.map(({ weights }) => weights),
    [[1, 1], [1]],
  );
  close(rollouts[0]!.grad_logp!, [-0.5 / 3, -0.5 / 3]);
  close(rollouts[1]!.grad_logp!, [0.75 / 3]);
  close([steps[0]!.loss], [(-0.5 - 0.5 + 0.75) / 3]);
  assert.equal(steps[0]!.metrics["update/loss"], steps[0]!.loss);
  assert.equal(steps[0]!.metrics["groups/mixed"], 1);
  close([steps[0]!.metrics["update/ratio_max"]], [1.5]);
});

const fixture = z
  .object({
    rows: z.array(z.record(z.string(), z.unknown())),
    budget: z.number(),
    cases: z.record(
      z.string(),
      z.object({
        weights: z.record(z.string(), z.number()),
        baseline: z.string(),
        scale: z.string(),
        aggregate: z.string(),
        low: z.number(),
        high: z.number(),
        beta: z.number(),
        kl_in_reward: z.boolean().optional(),
        advantages: z.array(z.number().nullable()),
        loss: z.number(),
        gradients: z.array(z.array(z.number())),
      }),
    ),
  })
  .parse(JSON.parse(readFileSync(join(process.cwd(), "test/fixtures/losses/losses.json"), "utf8")));

test("advantages, loss and gradients are those of GRPO, DAPO, Dr. GRPO, batch scaling and RLOO as trainers publish them", async () => {
  for (const [name, wanted] of Object.entries(fixture.cases)) {
    const aggregate = {
      sequence_mean: "{ use: sequence_mean, empty_rows: count }",
      token_mean: "token_mean",
      sequence_sum_norm: `{ use: sequence_sum_norm, budget: ${fixture.budget} }`,
    }[wanted.aggregate];
    const kl =
      wanted.beta === 0
        ? "[]"
        : wanted.kl_in_reward === true
          ? `[{ estimator: k1, place: reward, coefficient: ${wanted.beta} }]`
          : `[{ estimator: k3, place: loss, coefficient: ${wanted.beta} }]`;
    const { rollouts, steps } = await explained(
      `reward: { terms: { a: { use: equation, weight: ${wanted.weights["a"]} }, b: { use: length, weight: ${wanted.weights["b"]} } } }\n` +
        `advantage: { baseline: ${wanted.baseline}, scale: ${wanted.scale} }\nobjective: { use: clipped, low: ${wanted.low}, high: ${wanted.high}, aggregate: ${aggregate} }\nkl: ${kl}\n`,
      fixture.rows.map((recorded) => JSON.stringify(recorded)),
    );
    close([steps[0]!.loss], [wanted.loss], 1e-10);
    rollouts.forEach((rollout, i) => {
      const origins = fixture.rows[i]!["origin"];
      assert.ok(Array.isArray(origins));
      const advantage = wanted.advantages[i];
      close(
        rollout.advantages,
        origins.map((origin) => (origin === "written" ? (advantage ?? 0) : 0)),
        1e-10,
      );
      close(rollout.grad_logp!, wanted.gradients[i]!, 1e-7);
      assert.deepEqual(
        rollout.weights,
        origins.map((origin) => (origin === "written" && advantage !== null ? 1 : 0)),
        name,
      );
    });
  }
});

test("the presets of these methods are the same mathematics", async () => {
  for (const [preset, name] of [
    ["grpo-paper", "grpo"],
    ["dapo", "dapo"],
    ["dr-grpo", "dr_grpo"],
    ["lite-ppo", "batch"],
  ] as const) {
    const wanted = fixture.cases[name]!;
    const { rollouts, steps } = await explained(
      `extends: ${preset}\nrollout: { max_tokens: ${fixture.budget} }\nreward: { terms: { a: { use: equation, weight: 1 }, b: { use: length, weight: 0.3 } } }\n`,
      fixture.rows.map((recorded) => JSON.stringify(recorded)),
    );
    close([steps[0]!.loss], [wanted.loss], 1e-10);
    rollouts.forEach((rollout, i) => close(rollout.grad_logp!, wanted.gradients[i]!, 1e-7));
  }
});

test("weights at their step, `reward` where there are no terms, null terms left out, errored rollouts out of their group", async () => {
  const terms =
    "reward: { terms: { right: { use: equation }, short: { use: length, weight: { schedule: linear, from: 0, to: 1, over: 10 } } } }\nadvantage: { scale: none }\n";
  const at = (index: number, rewards: RolloutRow["rewards"], more: Partial<RolloutRow> = {}): RolloutRow => ({
    step: 5,
    group: "g",
    index,
    logp_old: [-1],
    ...(rewards === undefined ? {} : { rewards }),
    ...more,
  });
  const { rollouts, steps } = await explained(terms, [
    at(0, { right: 1, short: 2 }),
    at(1, { right: 1, short: null }),
    at(2, { right: 1 }, { errors: { short: "timeout after 2 s" } }),
    at(3, undefined, { reward: 0.5 }),
    at(4, { right: null, short: null }),
    at(5, { right: "NaN", short: 1 }),
  ]);
  assert.deepEqual(
    rollouts.map(({ reward }) => reward),
    [2, 1, null, 0.5, null, null],
  );
  close(
    rollouts.flatMap(({ advantages }) => advantages),
    [2, 1, 0, 0.5, 0, 0].map((reward, i) => ([2, 4, 5].includes(i) ? 0 : reward - 3.5 / 3)),
  );
  assert.deepEqual(
    rollouts.flatMap(({ weights }) => weights),
    [1, 1, 0, 1, 0, 0],
  );
  assert.equal(steps[0]!.metrics["reward/short/errors"], 1);
  assert.equal(steps[0]!.metrics["reward/right/errors"], 1);
  assert.equal(rollouts[0]!.grad_logp, undefined);
  assert.equal(steps[0]!.loss, undefined);
});

test("an errored term of weight 0 costs nothing, and a term sent to other tasks does not count", async () => {
  const { rollouts } = await explained(
    "reward: { terms: { right: { use: equation, tasks: [countdown] }, other: { use: length, weight: 0 } } }\nadvantage: { scale: none }\n",
    [
      row("g", 0, 1, { errors: { other: "crash" }, task: { arm: "countdown/3" } }),
      row("g", 1, 0, { task: { env: "countdown" } }),
      row("h", 0, 1, { task: { arm: "arithmetic/2" } }),
      row("h", 1, 0, { task: { env: "arithmetic" } }),
    ],
  );
  assert.deepEqual(
    rollouts.map(({ reward }) => reward),
    [1, 0, null, null],
  );
});

test("given advantages are taken as recorded: per token, or per row; null tokens don't train", async () => {
  const { rollouts, steps } = await explained(
    `${one}advantage: { baseline: given }\nobjective: { use: reinforce, aggregate: token_mean }\n`,
    [
      { step: 0, group: "g", index: 0, advantages: [1, null, -2], logp_new: [-1, -5, -3] },
      { step: 0, group: "g", index: 1, advantage: 0.5, logp_new: [-2], reward: 3 },
      { step: 0, group: "h", index: 0, advantage: null, logp_new: [-2] },
    ],
  );
  assert.deepEqual(
    rollouts.map(({ advantages }) => advantages),
    [[1, 0, -2], [0.5], [0]],
  );
  assert.deepEqual(
    rollouts.map(({ weights }) => weights),
    [[1, 0, 1], [1], [0]],
  );
  close([steps[0]!.loss], [(1 - 6 + 1) / 3]);
});

test("steps are separate updates; groups of one name in two steps are two groups; rejected rows are left out", async () => {
  const { order, rollouts } = await explained(`${one}advantage: { scale: none }\n`, [
    row("g", 0, 1),
    row("g", 1, 0),
    row("x", 0, 1, { admitted: false }),
    row("g", 0, 1, { step: 1 }),
    row("g", 1, 1, { step: 1 }),
    row("e", 0, 1, { step: 1, use: "evaluate" }),
  ]);
  assert.deepEqual(order, ["g#0", "g#1", "step 0", "g#0", "g#1", "step 1"]);
  assert.deepEqual(
    rollouts.map(({ advantages }) => advantages[0]),
    [0.5, -0.5, 0, 0],
  );
});

test("recorded masks, observed tokens and bare NaN", async () => {
  const { rollouts, steps } = await explained(
    `${one}advantage: { scale: none }\nobjective: { use: reinforce, aggregate: token_mean }\n`,
    [
      '{"step":0,"group":"g","index":0,"rewards":{"right":1},"logp_new":[-1,NaN,-2,-3],"origin":["written","observed","written","given"],"unknown":{"kept":"NaN in text"}}',
      row("g", 1, 0, { logp_new: [-1, -1], mask: [0, 1] }),
    ],
  );
  assert.deepEqual(
    rollouts.map(({ weights }) => weights),
    [
      [1, 0, 1, 0],
      [0, 1],
    ],
  );
  assert.deepEqual(
    rollouts.map(({ advantages }) => advantages),
    [
      [0.5, 0, 0.5, 0],
      [0, -0.5],
    ],
  );
  close([steps[0]!.loss], [(0.5 + 1 - 0.5) / 3]);
});

test("the stage of a step: sft steps count in the log, not in the schedules", () => {
  const config = configOf(
    `tasks: [{ env: countdown }]\n${one}stages:\n  - { name: warm, kind: sft, steps: 30 }\n  - { name: first, steps: 10 }\n  - { name: second, steps: 20 }\n`,
  );
  assert.deepEqual(
    [30, 39, 40, 59, 70].map((step) => stageAt(config, step).clock),
    [
      { step: 0, stageStep: 0 },
      { step: 9, stageStep: 9 },
      { step: 10, stageStep: 0 },
      { step: 29, stageStep: 19 },
      { step: 40, stageStep: 30 },
    ],
  );
});

test("bad rollouts are refused with the line and what to do", async () => {
  const kl = `${one}kl: [{ estimator: k3, coefficient: 0.1 }]\n`;
  await refuses(one, [row("g", 0, 1), "{oops"], /not JSON/, 1);
  await refuses(one, [row("g", 0, 1), "[1]"], /must be a JSON object/, 1);
  await refuses(
    one,
    [row("g", 0, 1), row("g", 1, 0, { logp_old: [-1, -2, -3] })],
    /"logp_new" has 2 entries and "logp_old" has 3|"logp_old" has 3 entries and "logp_new" has 2/,
    1,
  );
  await refuses(
    one,
    [row("g", 0, 1), row("g", 1, 0), row("lonely", 0, 1)],
    /group "lonely" of step 0 has one rollout, but advantage.baseline: group_mean/,
    2,
  );
  await refuses(kl, [row("g", 0, 1), row("g", 1, 0)], /needs "logp_ref".*no rollout of the step has it/, 0);
  await refuses(
    kl,
    [row("g", 0, 1, { logp_ref: [-1, -2] }), row("g", 1, 0, { logp_ref: [-1, null] })],
    /token 1 of the rollout has none/,
    1,
  );
  await refuses(
    one,
    [row("g", 0, 1), row("g", 1, 0, { logp_new: [-1, null] })],
    /needs "logp_new".*token 1/,
    1,
  );
  await refuses(
    one,
    [row("g", 0, 1), { step: 0, group: "g", index: 1, rewards: { right: 1 }, tokens: [1] }],
    /has no "logp_new", but others/,
    1,
  );
  await refuses(
    one,
    [row("g", 0, 1), { step: 0, group: "g", index: 1, logp_new: [-1] }],
    /neither "rewards" nor "reward"/,
    1,
  );
  await refuses(
    `${one}advantage: { baseline: given }\n`,
    [row("g", 0, 1), row("g", 1, 0, { advantage: 1 })],
    /neither/,
    0,
  );
  await refuses(
    `${one}objective: { use: clipped, entropy: 0.1 }\n`,
    [row("g", 0, 1), row("g", 1, 0)],
    /needs "entropy"/,
    0,
  );
  await refuses(
    one,
    [row("g", 0, 1), '{"step":0,"group":"g","index":1,"rewards":{"right":"yes"}}'],
    /reward "right" is "yes"/,
    1,
  );
  await refuses(
    one,
    [row("g", 0, 1, { rewards: { acc: 1 } }), row("g", 1, 1, { rewards: { acc: 1 } })],
    /have rewards acc, but the config's terms are right/,
    0,
  );
  const penalty = `${one}kl: [{ estimator: k1, place: reward, coefficient: 0.1 }]\n`;
  const bare = (index: number): RolloutRow => ({
    step: 0,
    group: "g",
    index,
    rewards: { right: 1 },
    logp_ref: [-1],
  });
  await refuses(penalty, [bare(0), bare(1)], /needs "logp_old"/, 0);
  const infinite = [
    [
      one,
      { logp_new: [-1, "-Infinity"] },
      /"logp_new" is -Infinity at token 1 of the rollout, and that token trains/,
    ],
    [one, { logp_old: [-1, "-Infinity"] }, /"logp_old" is -Infinity at token 1/],
    [kl, { logp_ref: [-1, "Infinity"] }, /"logp_ref" is Infinity at token 1/],
    [penalty, { logp_old: [-1, -2], logp_ref: [-1, "-Infinity"] }, /"logp_ref" is -Infinity at token 1/],
    [`${one}advantage: { baseline: given }\n`, { advantage: "Infinity" }, /recorded advantage is Infinity/],
  ] as const;
  for (const [config, more, message] of infinite) {
    const others = { logp_old: [-1, -2], logp_ref: [-1, -2], advantage: 0 };
    await refuses(config, [row("g", 0, 1, others), row("g", 1, 0, { ...others, ...more })], message, 1);
  }
  await refuses(
    one,
    [row("g", 0, 1), { ...row("g", 1, 0), touched: { clip_high: [3] } } as unknown as RolloutRow],
    /"touched" must map/,
    1,
  );
  await assert.rejects(readRollouts("/nowhere/rollouts.jsonl"), /can't be read/);
});
