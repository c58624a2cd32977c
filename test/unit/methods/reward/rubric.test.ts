import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import type { z } from "zod";
import type { Json } from "../../../../shared/lib/json.ts";
import { verdictIn } from "../../../../server/methods/reward/judges/verdict.ts";
import { keptCriteria } from "../../../../server/methods/reward/rubric/dropout.ts";
import type { RubricCriterion } from "../../../../server/core/rubrics.ts";
import { rubric, rubricScore } from "../../../../server/methods/reward/rubric/rubric.ts";
import type { TermValue } from "../../../../server/core/slots/reward.ts";
import type { Batch } from "../../../../server/core/rollouts.ts";
import type { RewardContext } from "../../../../server/core/reward.ts";
import { chatServer } from "../../../support/chatServer.ts";
import { rewardHost } from "../../../support/rewardHost.ts";
import { open, plan, supervised } from "../../engine/support.ts";
import { batchOf, made, temporary } from "../../support.ts";

await rewardHost();

const context: RewardContext = {
  clock: { step: 0, stageStep: 0 },
  models: { names: [], get: () => assert.fail(), perceptron: () => assert.fail() },
  tokenizer: { size: 0, eos: 0, pad: 0, encode: () => assert.fail(), decode: () => assert.fail() },
};
const health: Json = [
  { criterion: "names the dose", points: 5 },
  "is polite",
  { text: "recommends what is harmful", weight: -4 },
  { description: "says how long", points: 2 },
];
const rows = (responses: readonly string[], criteria: Json = health): Batch =>
  batchOf(
    responses.map((response, index) => ({
      step: 0,
      group: "g",
      index,
      prompt: "How much?",
      response,
      tokens: [1, 2],
      task: { env: "health", id: "t", data: { rubric: criteria } },
    })),
  );
const scores = async (
  params: z.input<typeof rubric.params>,
  batch: Batch,
  folder = process.cwd(),
  own = context,
): Promise<readonly (number | string)[]> => {
  const term = made(rubric, params, { folder, name: "quality" });
  await term.prepare?.();
  try {
    const values: readonly TermValue[] = await term.score(batch, own);
    return values.map((one) =>
      one.kind === "value" ? one.value : one.kind === "error" ? one.message : one.kind,
    );
  } finally {
    await term.close?.();
  }
};

test("the points that are met, of those above 0", () => {
  const criteria = [5, 1, -4, 2].map((points) => ({ text: "", points }));
  assert.equal(rubricScore(criteria, [1, 1, 0, 1]), 1);
  assert.equal(rubricScore(criteria, [1, 0, 1, 0]), 1 / 8);
  assert.equal(rubricScore(criteria, [0, 0, 1, 0]), -4 / 8);
});

test("dropped criteria are the same for a group, others at another step, and none where answers are held out", async () => {
  // Each criterion is met by its own letter and is worth a power of 2: the scores say which ones counted.
  const letters = [..."abcdefgh"];
  const worth = letters.map((_, k) => 2 ** k);
  const criteria = letters.map((letter, k) => ({ criterion: letter, points: worth[k]!, regex: letter }));
  const counted = async (step: number, use: "train" | "evaluate" = "train"): Promise<string> => {
    const batch = rows(letters, criteria);
    const at = { ...batch, records: batch.records.map((one) => ({ ...one, use })) };
    const clock = { step, stageStep: 0 };
    const found = await scores({ drop: 0.5 }, at, process.cwd(), { ...context, clock });
    const kept = letters.filter((_, k) => found[k] !== 0);
    const most = letters.reduce((sum, letter, k) => sum + (kept.includes(letter) ? worth[k]! : 0), 0);
    assert.deepEqual(
      found,
      letters.map((letter, k) => (kept.includes(letter) ? worth[k]! / most : 0)),
    );
    return kept.join("");
  };
  const steps = await Promise.all([0, 1, 2, 3].map((step) => counted(step)));
  for (const kept of steps) assert.equal(kept.length, 4);
  assert.ok(new Set(steps).size > 1);
  assert.equal(await counted(0), steps[0]);
  assert.equal(await counted(0, "evaluate"), "abcdefgh");
});

test("of few criteria three stay, those that may veto always, and one that can earn", () => {
  const [record] = rows(["a"]).records;
  const of = (...points: readonly number[]): RubricCriterion[] =>
    points.map((one, k) => ({ text: `${k}`, points: one }));
  const kept = (criteria: readonly RubricCriterion[], share: number, step = 0): readonly RubricCriterion[] =>
    keptCriteria(criteria, record!, { share, step });
  assert.equal(kept(of(1, 1, 1, 1), 0.9).length, 3);
  assert.equal(kept(of(1, 1), 0.9).length, 2);
  for (let step = 0; step < 20; step++) {
    const veto = of(1, 1, 1, 1, 1, 1).map((one, k) => (k < 5 ? { ...one, veto: true } : one));
    assert.equal(kept(veto, 0.5, step).length, 5);
    const earning = kept(of(-1, -1, -1, -1, -1, 1), 0.5, step);
    assert.equal(earning.length, 3);
    assert.ok(earning.some(({ points }) => points > 0));
  }
});

test("a verdict is the first yes or no, or what the JSON says", () => {
  assert.deepEqual(
    ["Yes.", "no", "It is true that …", '{"criteria_met": false, "why": "yes, but"}'].map(verdictIn),
    [1, 0, 1, 0],
  );
  assert.match(String(verdictIn("maybe")), /neither yes nor no: "maybe"/);
});

test("a server judges each criterion once, greedily, and what it leaves open is an error", async () => {
  const server = await chatServer((text, times) => {
    if (text.includes("silence")) return times === 1 ? 500 : "yes";
    if (text.includes("down")) return 500;
    if (text.includes("riddle")) return "who knows";
    if (text.includes("names the dose")) return text.includes("5 mg") ? "Yes" : "No";
    if (text.includes("harmful")) return text.includes("bleach") ? "yes" : "no";
    return "yes";
  });
  try {
    const judge = { url: server.url, model: "m", max_tokens: 3 };
    const batch = rows(["5 mg", "5 mg", "bleach", "silence", "down", "riddle"]);
    const [first, same, harmful, again, down, riddle] = await scores({ judge }, batch);
    assert.deepEqual({ first, same }, { first: 1, same: 1 });
    assert.equal(harmful, (1 - 4 + 2) / 8);
    assert.equal(again, (5 + 1 - 4 + 2) / 8, "a request that failed is made once more");
    assert.match(String(down), /The judge at .* did not answer: 500/);
    assert.match(String(riddle), /neither yes nor no/);
    const about = server.asked.filter(({ text }) => text.includes("5 mg"));
    assert.equal(about.length, 4, "two alike rollouts are one question a criterion");
    assert.deepEqual(
      { temperature: about[0]!.body["temperature"], max_tokens: about[0]!.body["max_tokens"] },
      { temperature: 0, max_tokens: 3 },
    );
    assert.match(about[0]!.text, /Question: .*Answer: 5 mg.*names the dose/s);
    assert.deepEqual(await scores({ judge, floor: 0 }, rows(["bleach"])), [0]);
  } finally {
    await server.close();
  }
});

test("criteria with a regex need no judge; without one, a task without a rubric and a rubric without points are errors", async () => {
  const criteria: Json = [
    { regex: "\\b4\\b", points: 3 },
    { criterion: "no swearing", regex: "damn", points: -1 },
  ];
  assert.deepEqual(await scores({}, rows(["it is 4", "damn, 4", "40"], criteria)), [1, 2 / 3, 0]);
  assert.match(String((await scores({}, rows(["x"])))[0]), /has no `regex`, and the term no `judge`/);
  assert.match(String((await scores({}, rows(["x"], "text")))[0]), /`rubric` is not a list of criteria/);
  assert.match(
    String((await scores({}, rows(["x"], [{ text: "bad", points: -1 }])))[0]),
    /no criterion .* above 0/,
  );
  assert.match(String((await scores({}, rows(["x"], [{ regex: "(" }])))[0]), /is not valid/);
});

test("where a criterion with a veto is broken the others earn nothing", () => {
  const harmful = { text: "", points: -4, veto: true };
  const cited = { text: "", points: 2, veto: true };
  const plain = { text: "", points: 6 };
  assert.equal(rubricScore([plain, harmful, cited], [1, 0, 1]), 1);
  assert.equal(rubricScore([plain, harmful, cited], [1, 1, 1]), 0, "(6 − 4 + 2) / 8, but it is harmful");
  assert.equal(rubricScore([plain, harmful, cited], [1, 0, 0]), 0, "it cites nothing");
  assert.equal(rubricScore([plain, harmful, cited], [0, 1, 0]), -0.5, "what costs points still does");
});

test("each verdict is next to the score, also where one is missing", async () => {
  const criteria: Json = [
    { name: "four", regex: "\\b4\\b", points: 3 },
    { criterion: "no swearing", regex: "damn", points: -1, veto: true },
    { criterion: "is kind" },
  ];
  const judged = (met: number | null, kind: number | null) => [
    { name: "four", text: "\\b4\\b", points: 3, met },
    { text: "no swearing", points: -1, veto: true, met: 0 },
    { text: "is kind", points: 1, met: kind },
  ];
  const folder = temporary();
  writeFileSync(
    join(folder, "judge.ts"),
    "export const score = ({ response }) => { if (response === 'boom') throw new Error('no idea'); return 1; };",
  );
  const term = made(rubric, { judge: { file: "judge.ts" } }, { folder, name: "quality" });
  await term.prepare?.();
  try {
    const [first, second] = await term.score(rows(["it is 4", "boom"], criteria), context);
    assert.deepEqual(first, { kind: "value", value: 1, criteria: judged(1, 1) });
    assert.equal(second?.kind, "error");
    assert.deepEqual(second?.criteria, judged(0, null));
  } finally {
    await term.close?.();
  }
});

test("a program of the workspace judges", async () => {
  const folder = temporary();
  writeFileSync(
    join(folder, "judge.ts"),
    "export const score = ({ response, task }) => { if (response === 'boom') throw new Error('no idea'); return response.includes(task.data.criterion.text) ? 1 : 0; };",
  );
  const criteria: Json = ["a", { text: "b", points: 3 }];
  const found = await scores({ judge: { file: "judge.ts" } }, rows(["a", "ab", "boom"], criteria), folder);
  assert.deepEqual(found.slice(0, 2), [0.25, 1]);
  assert.match(String(found[2]), /no idea/);
});

test("a model of the run judges", async () => {
  const policy = await open();
  const { tokenizer } = policy;
  const line = (question: string, said: string) => ({
    context: [...(tokenizer.prefix ?? []), ...tokenizer.encode(question)],
    tokens: [...tokenizer.encode(said), tokenizer.eos],
  });
  const { batchOf: lines } = await import("../../engine/support.ts");
  const lesson = lines([line("a has a?", "yes"), line("b has a?", "no")]);
  for (let step = 0; step < 60; step++) await policy.update(lesson, plan(["logp"]), supervised);
  const own: RewardContext = {
    ...context,
    models: { names: ["policy"], get: () => policy, perceptron: () => assert.fail() },
  };
  const ask = "{response} has {criterion}?";
  const batch = rows(["a", "b", "a".repeat(60)], ["a"]);
  const found = await scores({ judge: { of: "policy" }, ask }, batch, process.cwd(), own);
  assert.deepEqual(found.slice(0, 2), [1, 0]);
  assert.match(String(found[2]), /fills its context/);
  policy.close();
});
