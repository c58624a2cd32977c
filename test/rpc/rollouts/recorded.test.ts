/** `gradus explain` and `gradus reward` as a person calls them. */
import assert from "node:assert/strict";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { z } from "zod";
import { gradus } from "../../support/cli.ts";
import type { Ended } from "../../support/commandHost.ts";
import { temporary } from "../../unit/support.ts";

const run = (...words: string[]): Promise<Ended> => gradus(words);

const lines = (text: string): unknown[] =>
  text
    .trim()
    .split("\n")
    .map((line): unknown => JSON.parse(line));
const game = { env: "countdown", arm: "countdown/3", data: { numbers: [3, 5, 7], target: 22 } };

function files(config: string, rows: readonly object[], brevity = ""): [string, string, string] {
  const folder = temporary();
  mkdirSync(join(folder, "rewards"));
  writeFileSync(join(folder, "rewards/brevity.ts"), brevity);
  writeFileSync(join(folder, "a.gradus.yaml"), config);
  writeFileSync(join(folder, "r.jsonl"), rows.map((row) => JSON.stringify(row)).join("\n"));
  return [join(folder, "a.gradus.yaml"), "--rollouts", join(folder, "r.jsonl")];
}

const pair = [
  { step: 2, group: "g", index: 0, reward: 1, logp_old: [-1], logp_new: [-1] },
  { step: 2, group: "g", index: 1, reward: 0, logp_old: [-1], logp_new: [-1] },
];

test("explain needs neither tasks nor rewards in the config, and --set reaches it", async () => {
  const { stdout: out, code } = await run(
    "explain",
    ...files("advantage: { scale: none }\n", pair),
    "--json",
  );
  assert.equal(code, 0);
  assert.deepEqual(lines(out).slice(0, 2), [
    {
      type: "rollout",
      step: 2,
      group: "g",
      index: 0,
      reward: 1,
      advantages: [0.5],
      weights: [1],
      grad_logp: [-0.25],
    },
    {
      type: "rollout",
      step: 2,
      group: "g",
      index: 1,
      reward: 0,
      advantages: [-0.5],
      weights: [1],
      grad_logp: [0.25],
    },
  ]);
  const summary = z
    .object({
      type: z.literal("summary"),
      step: z.literal(2),
      loss: z.number(),
      metrics: z.record(z.string(), z.number()),
    })
    .parse(lines(out)[2]);
  assert.equal(summary.loss, 0);
  const none = await run(
    "explain",
    ...files("{}\n", pair),
    "--json",
    "--set",
    "advantage.baseline=none",
    "--set",
    "advantage.scale=none",
  );
  assert.deepEqual(
    lines(none.stdout).map(
      (line) => z.object({ advantages: z.array(z.number()).optional() }).parse(line).advantages,
    ),
    [[1], [0], undefined],
  );
});

test("explain speaks to people without --json, and reports a broken config", async () => {
  const { stdout: out } = await run("explain", ...files("advantage: { scale: none }\n", pair));
  assert.match(out, /^step 2\n {2}g #0 {2}reward 1 {2}advantage 0\.5 {2}tokens 1\/1/);
  assert.match(out, /\n {2}loss 0\n/);
  const broken = await run("explain", ...files("advantages: { scale: none }\n", pair));
  assert.equal(broken.code, 1);
  assert.match(broken.stderr, /a\.gradus\.yaml:1:1: error: .*advantage/s);
  assert.equal(broken.stdout, "");
});

const config =
  "tasks: [{ env: countdown }]\nreward: { terms: { correct: { use: equation }, brevity: { use: ./rewards/brevity.ts, weight: 0.1 } }, success: { terms: [correct] } }\n";
const recorded = [
  {
    step: 0,
    group: "a",
    index: 0,
    task: game,
    response: "3*5+7",
    tokens: [1, 2, 3, 4, 5],
    reward: 0,
    rewards: { correct: 0, brevity: 0 },
  },
  {
    step: 0,
    group: "a",
    index: 1,
    task: game,
    response: "3+5+7",
    tokens: [1, 2, 3, 4, 5],
    reward: 0,
    rewards: { correct: 0, brevity: 0 },
  },
  {
    step: 1,
    group: "b",
    index: 0,
    task: game,
    response: "1",
    tokens: [1],
    reward: 1,
    rewards: { correct: 1, brevity: 0 },
  },
  {
    step: 1,
    group: "b",
    index: 1,
    task: game,
    response: "2",
    tokens: [1],
    reward: 0,
    rewards: { correct: 0, brevity: 0 },
  },
];

test("reward reports which criteria were gained and lost, and explain what they were", async () => {
  const rubric = `
tasks: [{ env: countdown }]
reward: { terms: { style: { use: rubric } } }
`;
  const task = {
    ...game,
    data: {
      ...game.data,
      rubric: [
        { name: "sum", regex: "\\+" },
        { name: "product", regex: "\\*", points: 3 },
      ],
    },
  };
  const judged = (sum: number, product: number) => ({
    style: {
      criteria: [
        { name: "sum", text: "\\+", points: 1, met: sum },
        { name: "product", text: "\\*", points: 3, met: product },
      ],
    },
  });
  const rows = [
    { ...recorded[0]!, task, rewards: { style: 0.25 }, reward: 0.25, details: judged(1, 0) },
    { ...recorded[1]!, task, rewards: { style: 1 }, reward: 1, details: judged(1, 1) },
  ];
  const words = files(rubric, rows);
  const { stdout: out, stderr: err, code } = await run("reward", ...words, "--json");
  assert.equal(code, 0, err);
  const [first, , summary] = lines(out);
  assert.deepEqual(z.looseObject({ details: z.unknown() }).parse(first).details, judged(1, 1));
  const shape = z.looseObject({ terms: z.record(z.string(), z.looseObject({ criteria: z.unknown() })) });
  assert.deepEqual(shape.parse(summary).terms["style"]?.criteria, {
    sum: { met: 1, before: 1, gained: 0, lost: 0 },
    product: { met: 0.5, before: 0.5, gained: 1, lost: 1 },
  });
  assert.match((await run("reward", ...words)).stdout, /product: met 50 %, was 50 %; 1 gained, 1 lost/);
  assert.match(
    (await run("explain", ...words, "--why", "a#1")).stdout,
    /✓ \+3 {2}product {2}1 of 2 of the group/,
  );
});

test("reward scores recorded rollouts again: values, changes, groups gained and lost", async () => {
  const { stdout: out, code } = await run(
    "reward",
    ...files(config, recorded, "console.log('noise'); export const score = ({ length }) => -length;"),
    "--json",
  );
  assert.equal(code, 0);
  const [first, , third, , summary] = lines(out);
  assert.deepEqual(first, {
    type: "rollout",
    step: 0,
    group: "a",
    index: 0,
    rewards: { correct: 1, brevity: -5 },
    errors: {},
    reward: 0.5,
    before: 0,
  });
  assert.deepEqual(third, {
    type: "rollout",
    step: 1,
    group: "b",
    index: 0,
    rewards: { correct: 0, brevity: -1 },
    errors: {},
    reward: -0.1,
    before: 1,
  });
  const compared = { rollouts: 4, gained: 0, lost: 0 };
  const [correct, brevity, total] = [
    { mean: 0.25, before: 0.25, changed: 2 },
    { mean: -3, before: 0, changed: 4 },
    { mean: -0.05, before: 0.25, changed: 4 },
  ];
  const { preference, ...rest } = z.looseObject({ preference: z.unknown() }).parse(summary);
  // One success and three failures: of brevity's three pairs two are ranked right and one ties.
  const ranked = z.looseObject({
    rewards: z.array(z.looseObject({ term: z.string().nullable(), all: z.unknown() })),
  });
  assert.deepEqual(ranked.parse(preference).rewards.find(({ term }) => term === "brevity")?.all, {
    pairs: 3,
    accuracy: 2.5 / 3,
    tied: 1 / 3,
    interval: null,
  });
  assert.deepEqual(rest, {
    type: "summary",
    rollouts: 4,
    terms: {
      correct: { ...correct, errors: 0, asked: 4, compared: { ...compared, ...correct } },
      brevity: { ...brevity, errors: 0, asked: 4, compared: { ...compared, ...brevity } },
    },
    total: {
      ...{ ...total, errors: 0, flips: 0, compared: { ...compared, ...total } },
      unrecorded: { count: 0, nan: 0, first: [] },
    },
    groups: { total: 2, gained: ["0/a"], lost: ["1/b"] },
  });
});

test("reward keeps an error apart from 0, and refuses rollouts without a response", async () => {
  const { stdout: out } = await run(
    "reward",
    ...files(config, recorded.slice(0, 2), "export const score = () => { throw new Error('no'); };"),
    "--json",
  );
  const [first] = lines(out);
  const {
    rewards,
    errors,
    reward: total,
  } = z
    .object({
      rewards: z.record(z.string(), z.number()),
      errors: z.record(z.string(), z.string()),
      reward: z.null(),
    })
    .parse(first);
  assert.deepEqual(rewards, { correct: 1 });
  assert.match(errors["brevity"] ?? "", /brevity\.ts:score: threw Error: no/);
  assert.equal(total, null);
  const refused = await run("reward", ...files(config, pair, "export const score = () => 0;"));
  assert.equal(refused.code, 1);
  assert.match(refused.stderr, /r\.jsonl:1:1: error: the rollout has no "response"/);
});
