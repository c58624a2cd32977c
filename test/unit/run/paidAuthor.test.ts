/** A second language model that writes the step's tasks, and is trained by what they earn. */
import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { authorObjective } from "../../../server/algorithm/loss/authorObjective.ts";
import { contextOf } from "../../../server/algorithm/algorithm.ts";
import { create } from "../../../server/core/create.ts";
import { randomStream } from "../../../server/lib/random.ts";
import { advantagesOf, paysOf } from "../../../server/run/models/paidAuthor.ts";
import type { Task } from "../../../server/core/task.ts";
import { group } from "../methods/curriculum/support.ts";
import { batchOf, configOf, near, row } from "../support.ts";
import { essence, ofKind, testRun, type TestRun } from "../../support/runFolder.ts";
import { some } from "../../support/thorough.ts";

const folder = mkdtempSync(join(tmpdir(), "gradus-author-"));
after(() => rmSync(folder, { recursive: true, force: true }));
const seeds = join(folder, "seeds.jsonl");
writeFileSync(
  seeds,
  Array.from({ length: 20 }, (_, i) => JSON.stringify({ prompt: `q${i}`, answer: "1" })).join("\n"),
);
/** Whatever the policy answers: a task is failed if its prompt begins with a character of odd code. */
const judge = join(folder, "judge.ts");
writeFileSync(
  judge,
  "export const score = ({ prompt }: { prompt: string }): number => 1 - (prompt.charCodeAt(0) % 2);\n",
);
const isHard = (prompt: string): boolean => prompt.charCodeAt(0) % 2 === 1;

const size = "base: tiny, width: 16, layers: 1, heads: 2, hidden: 32, context: 32";
const settings = (author: string, ...more: readonly string[]): string[] => [
  `models={ writer: { ${size}, trains: true, optimizer: { use: adamw, lr: 0.02 } }, old: { polyak: { of: writer, every: 10, tau: 1 } } }`,
  `tasks=[{ dataset: ${JSON.stringify(seeds)} }, { name: new, generate: { selector: { use: success_band, low: 0, high: 1 }, transform: { use: diversify, request: '{prompt}' }, author: { use: model, model: writer, max_tokens: 2 }, answer: inherit, gates: [], joins: step, every: 1, parents: 4, children: 6 } }]`,
  `reward.terms={ correct: null, judge: { use: ${JSON.stringify(judge)} } }`,
  `auxiliary=[{ use: author, model: writer, ${author} }]`,
  "rollout={ prompts: 4, group: 2, max_tokens: 2 }",
  "stages=[{ name: practice, steps: 30 }]",
  "evaluation={ every: 100, prompts: 1, pass_at: [1], samples: 1 }",
  "checkpoint={ every: 100 }",
  ...more,
];

const everyTen = "checkpoint={ every: 10, keep: 9 }";

async function finished(set: readonly string[]): Promise<TestRun> {
  const run = testRun(set);
  assert.equal(await run.work(), 0, run.ending());
  return run;
}
const mean = (values: readonly number[]): number =>
  values.reduce((sum, value) => sum + value, 0) / values.length;
const metric = (run: TestRun, name: string): number[] =>
  ofKind(run.records(), "metrics").map(({ values }) => Number(values[name]));
/** What part of the tasks made in these steps is hard. */
const hard = (run: TestRun, from: number, to: number): number =>
  mean(
    ofKind(run.records(), "task")
      .filter(({ step }) => step >= from && step < to)
      .map(({ prompt }) => Number(isHard(prompt))),
  );

const dpo =
  "objective: { use: dpo, beta: 0.1, anchor: old, pairs: best_worst }, also: [{ use: filtered_likelihood, keep: best, factor: 0.4 }]";
for (const [name, objective] of some(
  [
    ["a policy gradient", "kl: { model: old, coefficient: 0.01 }"],
    ["preferences", dpo],
  ] as const,
  1,
))
  test(`an author that is paid for failure learns by ${name} to write tasks that fail; a resumed run is the same`, async () => {
    const run = await finished(settings(`pays: failure, ${objective}`, everyTen));
    try {
      const pay = metric(run, "learner/writer/pay");
      const [first, last] = [mean(pay.slice(0, 5)), mean(pay.slice(-5))];
      assert.ok(first < 0.65 && last > first + 0.2, `pay ${first} → ${last}`);
      const [before, later] = [hard(run, 0, 5), hard(run, 25, 30)];
      assert.ok(before < 0.65 && later > before + 0.15, `hard tasks ${before} → ${later}`);
      const whole = run.records();
      rmSync(join(run.folder, "checkpoints", "29"), { recursive: true });
      assert.equal(await run.work(1), 0, run.ending(1));
      assert.deepEqual(essence(run.records(1), 20), essence(whole, 20));
    } finally {
      run.remove();
    }
  });

test("a rewriter that is paid by the reward writes fewer of them; without an update nothing moves", async () => {
  const runs = [];
  for (const author of ["pays: reward", "pays: reward, when: { every: 100 }"])
    runs.push(await finished(settings(author)));
  const [moved, still] = runs as [TestRun, TestRun];
  try {
    assert.ok(hard(moved, 25, 30) < hard(moved, 0, 5) - 0.15);
    assert.ok(Math.abs(hard(still, 20, 30) - hard(still, 0, 10)) < 0.1);
    assert.ok(!metric(still, "learner/writer/loss").some(Number.isFinite));
  } finally {
    for (const run of runs) run.remove();
  }
});

/** Two requests: of three texts, and of two. */
const batch = batchOf(["a", "a", "a", "b", "b"].map((name, i) => row(name, i, { tokens: [1, 2] })));
const task = (id: string): Task => ({ id, source: "new", env: "new", prompt: id, data: {} });
const outcomes = new Map([
  ["good", [1, 1, 0, 1]],
  ["bad", [0, 0, 0, 0]],
]);
const groups = [...outcomes].map(([id, rewards]) => group(rewards, { task: task(id) }));

test("a text earns what its task does, as often as it is written; what gave no task, what is refused, what evaluation asks", () => {
  const tasks = new Map([
    [0, "good"],
    [1, "good"],
    [2, "refused"],
    [4, null],
  ]);
  const texts = { model: "writer", step: 0, batch, tasks };
  const pays = (how: "reward" | "failure", refused: number): number[] => [
    ...paysOf([texts], groups, { pays: how, refused }),
  ];
  assert.deepEqual(pays("reward", -1), [0.75, 0.75, -1, -1, Number.NaN]);
  assert.deepEqual(pays("failure", 0), [0.25, 0.25, 0, 0, Number.NaN]);
});

test("advantages compare a request's texts: over their deviation, or not; a text that is not paid stays out", () => {
  const pays = Float64Array.of(0.75, 0.25, 0.5, 1, Number.NaN);
  const rows = (epsilon: number | undefined): number[] =>
    [...advantagesOf(batch, pays, epsilon)].filter((_, t) => t % 2 === 0);
  assert.deepEqual(rows(undefined), [0.25, -0.25, 0, 0, 0]);
  // The deviation of 3/4, 1/4 and 1/2 is √(1/24), divisor n.
  const scale = Math.sqrt(1 / 24) + 0.01;
  const found = rows(0.01);
  [0.25 / scale, -0.25 / scale, 0, 0, 0].forEach((value, i) => assert.ok(near(found[i]!, value)));
});

test("an author's loss: its objective, further losses by their factors, and k3 to another model; derivatives by differences", () => {
  const text =
    "extends: prompt-rl\nreward: { terms: { right: equation } }\nauxiliary: [{ use: author, model: rewriter, objective: { use: dpo, beta: 0.5, anchor: first }, also: [{ use: filtered_likelihood, keep: best, factor: 0.4 }], kl: { model: first, coefficient: 0.1 } }]\n";
  const { top } = configOf(text);
  const [config] = top.auxiliary;
  const context = contextOf(top, { random: randomStream(1) });
  const loss = create(config!.loss, context);
  assert.ok(loss.kind === "author");
  const objective = authorObjective(config!, loss, context);
  assert.deepEqual([objective.channels, objective.unit, objective.models], [["logp"], "group", ["first"]]);
  const two = batchOf(["a", "a"].map((name, i) => row(name, i, { tokens: [1, 2] })));
  const first = Float64Array.of(-1, -2, -1.5, -0.5);
  const at = (logp: Float64Array) =>
    objective.loss({
      batch: two,
      now: { logp },
      old: { "logp:first": first },
      advantages: new Float64Array(4),
      weights: new Float64Array(4).fill(1),
      factors: new Float64Array(4).fill(1 / 4),
      rewards: { sources: [], total: Float64Array.of(1, 0), errored: new Uint8Array(2) },
    });
  const now = Float64Array.of(-0.8, -2.1, -1.4, -0.9);
  const { loss: value, gradients } = at(now);
  // The first text is the better one.
  const margin = 0.5 * (-2.9 - -3 - (-2.3 - -2));
  const k3 = [...now].map((logp, t) => Math.exp(first[t]! - logp) - (first[t]! - logp) - 1);
  const expected = Math.log1p(Math.exp(-margin)) + (0.4 * 2.9) / 2 + 0.1 * mean(k3);
  assert.ok(near(value, expected, 1e-9), `${value} against ${expected}`);
  const h = 1e-6;
  for (const t of now.keys()) {
    const [up, down] = [1, -1].map((sign) => at(now.map((x, i) => (i === t ? x + sign * h : x))).loss);
    assert.ok(Math.abs(gradients.logp![t]! - (up! - down!) / (2 * h)) < 1e-7);
  }
});
