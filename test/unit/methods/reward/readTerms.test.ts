/** Terms that read what other terms gave: which, in what order, by attempt, and what they make of it. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { contextOf } from "../../../../server/algorithm/algorithm.ts";
import { RewardChain } from "../../../../server/algorithm/rewards/rewards.ts";
import { Scorer } from "../../../../server/algorithm/rewards/scoring.ts";
import { status } from "../../../../server/core/reward.ts";
import { randomStream } from "../../../../server/lib/random.ts";
import { confidenceIn } from "../../../../server/methods/reward/calibration/confidence.ts";
import type { RolloutRow } from "../../../../shared/rollouts/rollouts.ts";
import { batchOf, configOf, near } from "../../support.ts";
import { noModels, rowOf } from "./support.ts";

const models = noModels.models;

/** Columns and successes of rows under a config's reward. */
async function scored(
  reward: string,
  rows: readonly RolloutRow[],
  only?: string,
): Promise<{ readonly values: Record<string, (number | string)[]>; readonly success: number[] }> {
  const config = configOf(`tasks: [{ env: countdown }]\nrollout: { max_tokens: 100 }\nreward: ${reward}\n`);
  const { body } = config.stages[0]!;
  const context = contextOf(body, { random: randomStream(1, "test"), models });
  const scorer = new Scorer(body.reward, context, only);
  await scorer.prepare();
  const batch = batchOf(rows);
  const columns = await scorer.score(batch, noModels);
  const values = Object.fromEntries(
    columns.map((column) => [
      column.name,
      rows.map((_, row) =>
        column.status[row] === status.value
          ? column.values[column.offsets[row]!]!
          : column.status[row] === status.error
            ? column.errors.get(row)!
            : "none",
      ),
    ]),
  );
  const chain = new RewardChain(body.reward, context);
  const success = only === undefined ? [...chain.rewards(columns, batch, noModels.clock).success] : [];
  await scorer.close();
  return { values, success };
}

const answered = (response: string, answer: string | undefined, index = 0): RolloutRow =>
  rowOf(response, { index, task: { ...(answer !== undefined && { answer }), data: {} } });
const verdict = 'correct: { use: verdict, pattern: "<answer>(.*?)</answer>", weight: 0 }';

test("brier: 1[c] − (q − 1[c])², and the released mix's 1 − (q − 1[c])²", async () => {
  const sure = (answer: string, q: string): RolloutRow =>
    answered(`<answer>${answer}</answer><confidence>${q}</confidence>`, "4");
  const rows = [
    sure("4", "1"),
    sure("4", "0.8"),
    sure("5", "0.8"),
    sure("5", "0"),
    sure("5", "30%"),
    sure("4", "?"),
  ];
  const { values, success } = await scored(
    `{ terms: { rlcr: brier, alone: { use: brier, of: correct, score: calibration, missing: 0 }, ${verdict} } }`,
    rows,
  );
  const close = (found: readonly (number | string)[], wanted: readonly number[]): void =>
    wanted.forEach((one, i) => assert.ok(near(found[i] as number, one), `${i}: ${found[i]}, not ${one}`));
  close(values["rlcr"]!, [1, 1 - 0.04, -0.64, 0, -0.09, -1]);
  close(values["alone"]!, [1, 0.96, 1 - 0.64, 1, 0.91, 0]);
  // A term that reads another does not decide what is a success, though it comes first.
  assert.deepEqual(success, [1, 1, 0, 0, 0, 1]);
});

test("a confidence is a number from 0 to 1 in the last pair of its tag", () => {
  const said = (...texts: readonly string[]): (number | undefined)[] =>
    texts.map((text) => confidenceIn(text, "c"));
  assert.deepEqual(
    said(
      "<c>.5</c>",
      "<c>0.1</c> <c> 1. </c>",
      "<c>95 %</c>",
      "<c>1.2</c>",
      "<c>-1</c>",
      "<c></c>",
      "0.5",
      "</c><c>",
    ),
    [0.5, 1, 0.95, undefined, undefined, undefined, undefined, undefined],
  );
});

test("length, cosine: right 2 to 1, wrong -10 to 0, and -10 at the limit", async () => {
  const rows = [
    ...[0, 50, 99].map((n) => rowOf("x".repeat(n), { task: { answer: "x".repeat(n), data: {} } })),
    ...[0, 50, 99, 100].map((n) => rowOf("x".repeat(n), { task: { answer: "y", data: {} } })),
  ];
  const { values } = await scored(
    "{ terms: { right: { use: exact_match, weight: 0 }, length: { use: length, shape: cosine }, near: { use: length, shape: cosine, cache: 16 } } }",
    rows,
  );
  const at = (share: number, from: number, to: number): number =>
    to + 0.5 * (from - to) * (1 + Math.cos(Math.PI * share));
  [2, 1.5, at(0.99, 2, 1), -10, -5, at(0.99, -10, 0), -10].forEach((wanted, i) =>
    assert.ok(near(values["length"]![i] as number, wanted), `${i}: ${values["length"]![i]}`),
  );
  assert.deepEqual([values["near"]![2], values["near"]![5]], [-10, -10]);
});

test("abstain: what a refusal is worth depends on whether the group knows the answer", async () => {
  const group = (name: string, ...responses: readonly string[]): RolloutRow[] =>
    responses.map((response, index) =>
      rowOf(response, { group: name, index, task: { id: name, answer: "4", data: {} } }),
    );
  const rows = [
    ...group("known", "4", "4", "I don't know", "5"),
    ...group("unknown", "5", "I do not know.", "6"),
  ];
  const { values } = await scored(
    "{ terms: { honest: abstain, right: { use: exact_match, weight: 0 } } }",
    rows,
  );
  assert.deepEqual(values["honest"], [1, 1, 0, -1, -1, 1, -1]);
});

test("flip: 1 − r for whole prompts with a probability, the same when it is asked again", async () => {
  const rows = Array.from({ length: 400 }, (_, i) =>
    rowOf("4", { group: `g${i >> 1}`, index: i % 2, task: { answer: i % 4 < 2 ? "4" : "5", data: {} } }),
  );
  const reward = "{ terms: { noisy: { use: flip, flip: 0.4 }, right: { use: exact_match, weight: 0 } } }";
  const { noisy, right } = (await scored(reward, rows)).values as Record<string, number[]>;
  const flipped = noisy!.map((value, i) => value !== right![i]);
  for (let i = 0; i < rows.length; i += 2) assert.equal(flipped[i], flipped[i + 1]);
  const share = flipped.filter(Boolean).length / rows.length;
  assert.ok(share > 0.28 && share < 0.52, String(share));
  assert.deepEqual((await scored(reward, rows)).values["noisy"], noisy);
  const held = rows.map((row): RolloutRow => ({ ...row, use: "evaluate" }));
  assert.deepEqual((await scored(reward, held)).values["noisy"], right);
});

test("boost_if_low lifts what is low by another term, at most to 1", async () => {
  const reward =
    "{ terms: { lifted: { use: boost_if_low, of: right, by: form }, right: { use: exact_match, weight: 0 }, form: { use: format, tags: [b], weight: 0 } } }";
  const rows = [answered("<b></b>", "x"), answered("no", "x"), answered("x", "x")];
  assert.deepEqual((await scored(reward, rows)).values["lifted"], [0.1, 0, 1]);
});

test("what the read term does not say, or failed to say, its reader does not say either", async () => {
  const { values, success } = await scored(
    `{ terms: { rlcr: brier, right: { use: exact_match, weight: 0 } } }`,
    [answered("<confidence>1</confidence>", undefined)],
  );
  assert.match(String(values["rlcr"]![0]), /^right: exact_match needs an answer/);
  assert.deepEqual(success, [2]);
});

test("a term alone is scored with those that it reads, and gives its own column", async () => {
  const { values } = await scored(
    "{ terms: { rlcr: brier, right: exact_match, other: { use: format, tags: [z] } } }",
    [answered("<confidence>1</confidence>", "<confidence>1</confidence>")],
    "rlcr",
  );
  assert.deepEqual(values, { rlcr: [1] });
});

test("of episodes, a term that scores attempts reads what the other gave the same attempt", async () => {
  const turns = [
    { role: "assistant", start: 0, end: 1, text: "5" },
    { role: "user", start: 1, end: 2, text: "no" },
    { role: "assistant", start: 2, end: 3, text: "4" },
  ];
  const row = rowOf("5no4", { tokens: [1, 2, 3], turns, task: { answer: "4", data: {} } });
  const config = configOf(
    "tasks: [{ env: countdown }]\nreward: { attempts: each, terms: { each: { use: flip, flip: 1 }, last: { use: flip, flip: 1, attempts: last }, right: { use: exact_match, weight: 0 } } }\n",
  );
  const { body } = config.stages[0]!;
  const scorer = new Scorer(body.reward, contextOf(body, { random: randomStream(1, "test"), models }));
  const [each, last, right] = await scorer.score(batchOf([row]), noModels);
  assert.deepEqual([...right!.values], [0, Number.NaN, 1]);
  assert.deepEqual([...each!.values], [1, Number.NaN, 0]);
  assert.deepEqual([...last!.values], [0]);
});

test("a term that reads itself, or one that is not there, is an error that names the others", async () => {
  const said = (terms: string): Promise<unknown> => scored(`{ terms: { ${terms} } }`, [answered("", "")]);
  await assert.rejects(
    said("a: { use: brier, of: b }, b: { use: brier, of: a }, right: exact_match"),
    /reads its own value/,
  );
  await assert.rejects(said("a: { use: brier, of: c }, right: exact_match"), /no reward term `c`/);
});

test("a wrong response costs by its place among those of a group that has a correct one", async () => {
  const rows = (group: string, texts: readonly string[], logp: readonly number[]): RolloutRow[] =>
    texts.map((response, index) => ({
      ...{ step: 0, group, index, response, tokens: [1, 2] },
      logp_old: [logp[index]! / 2, logp[index]! / 2],
    }));
  const { values } = await scored(
    '{ terms: { hit: { use: format, pattern: "yes" }, rank: { use: rank_penalty, of: hit } } }',
    [
      ...rows("a", ["no", "yes", "nope", "never"], [-3, -2, -1, -4]),
      ...rows("b", ["no", "nope"], [-1, -2]),
      ...rows("c", ["yes", "yes"], [-1, -2]),
    ],
  );
  // 1/log2(2 … 5) = 1, 0.63093, 0.5, 0.43068; their sum is 2.56161. By likelihood: nope, yes, no, never.
  const [no, yes, nope, never, ...others] = values["rank"]!;
  assert.ok(near(Number(nope), -1 / 2.5616063116448506) && near(Number(no), -0.5 / 2.5616063116448506));
  assert.ok(near(Number(never), -0.43067655807339306 / 2.5616063116448506));
  assert.deepEqual([yes, ...others], [0, 0, 0, 0, 0]);
  const { values: bare } = await scored(
    '{ terms: { hit: { use: format, pattern: "yes" }, rank: { use: rank_penalty, of: hit } } }',
    [{ step: 0, group: "a", index: 0, response: "no" }],
  );
  assert.match(String(bare["rank"]![0]), /needs log-probs/);
});
