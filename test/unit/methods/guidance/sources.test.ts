/** Every source of help in short runs of the tiny model: what a row is made of, and what trains. */
import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import type { RolloutRecordLog } from "../../../../shared/log/records.ts";
import { essence, ofKind, testRun, type TestRun } from "../../../support/runFolder.ts";

const folder = mkdtempSync(join(tmpdir(), "gradus-guidance-"));
const tasks = join(folder, "tasks.jsonl");
before(() => {
  const lines = ["ab", "cd", "ef", "gh", "ij", "kl", "mn", "op", "qr", "st"].map((text) =>
    JSON.stringify({
      question: `${text}>`,
      answer: [...text].reverse().join(""),
      hint: `it ends in ${text[0]}`,
      feedback: "no",
      rubric: ["two letters", { criterion: "reversed" }, "no spaces"],
    }),
  );
  writeFileSync(tasks, lines.join("\n"));
  writeFileSync(
    join(folder, "answers.jsonl"),
    lines.map((line) => JSON.stringify({ prompt: JSON.parse(line).question, response: "zz" })).join("\n"),
  );
});
after(() => rmSync(folder, { recursive: true }));

const base = [
  "stages.warm-up.steps=2",
  "stages.practice.steps=2",
  "evaluation.every=100",
  "evaluation.prompts=2",
  "model.context=160",
  `tasks=[{ name: mine, dataset: ${JSON.stringify(tasks)}, prompt: "{question}", answer: "{answer}" }]`,
  "update.epochs=2",
];
async function finished(guidance: string, ...set: readonly string[]): Promise<TestRun> {
  const run = testRun([...base, `guidance=${guidance}`, ...set]);
  assert.equal(await run.work(), 0, run.ending());
  const losses = ofKind(run.records(), "metrics").map(({ values }) => Number(values["update/loss"] ?? 0));
  assert.ok(losses.every(Number.isFinite), `losses ${losses.join()}`);
  return run;
}
interface Row extends RolloutRecordLog {
  /** Per token: g given, w written; capital letters train. */
  readonly pattern: string;
}
const rowsOf = (run: TestRun): Row[] =>
  ofKind(run.records(), "rollout")
    .filter(({ row }) => row.use === "train")
    .map((record) => ({
      ...record,
      pattern: [...record.columns.origin!]
        .map((kind, t) => {
          const letter = kind === 1 ? "g" : "w";
          return record.columns.mask![t] === 1 ? letter.toUpperCase() : letter;
        })
        .join(""),
    }));
async function rows(guidance: string, ...set: readonly string[]): Promise<{ helped: Row[]; plain: Row[] }> {
  const run = await finished(guidance, ...set);
  try {
    const all = rowsOf(run);
    return {
      helped: all.filter(({ row }) => row.help !== undefined),
      plain: all.filter(({ row }) => row.help === undefined),
    };
  } finally {
    run.remove();
  }
}

test("a demonstration is one of each group, all of it given, all of it trains", async () => {
  for (const ratio of ["{ use: shaped, gamma: 0.1 }", "multiple_importance", "same_context"]) {
    const { helped, plain } = await rows(
      `{ trigger: always, source: demonstration, ratio: ${ratio}, rollouts: 1 }`,
      "advantage.token_weights=[{ use: power }]",
    );
    assert.equal(helped.length, 8, "one of each group of four, two steps of four groups");
    assert.equal(plain.length, 24);
    for (const { row, pattern } of helped) {
      assert.equal(pattern, "GGG", "two letters and the end");
      assert.equal(row.source, "dataset");
      assert.equal(row.reward, 1);
      assert.equal(row.finish, "stop");
      assert.equal(row.index, 3, "the last of its group");
    }
  }
});

test("teachers: a model's tokens come with its log-probs, a file's without", async () => {
  const { helped } = await rows(
    "{ trigger: all_fail, source: { use: teacher, models: [other] }, ratio: true_behaviour, rollouts: 1 }",
    "models={ other: { base: tiny, width: 16, layers: 1, heads: 2, hidden: 32, context: 160 } }",
  );
  assert.ok(helped.length > 0);
  for (const { row, pattern, columns } of helped) {
    assert.match(pattern, /^G+$/);
    assert.deepEqual({ source: row.source, by: row.help!.by }, { source: "teacher", by: "other" });
    assert.ok(columns.logp_old!.every((value) => value < 0));
  }
  const chosen = await rows(
    `{ trigger: all_fail, source: { use: teacher, files: [${JSON.stringify(join(folder, "answers.jsonl"))}], models: [reference], select: answer_likelihood }, ratio: shaped, rollouts: 2 }`,
    "kl=[{ model: reference, coefficient: 0.01 }]",
  );
  assert.deepEqual(
    new Set(chosen.helped.map(({ row }) => row.help!.by!.replace(/.*\//, ""))),
    new Set(["reference", "answers.jsonl"]),
  );
  const file = chosen.helped.find(({ row }) => row.response === "zz")!;
  assert.ok(Number.isNaN(file.columns.logp_old![0]!));
});

test("a guide begins and the policy finishes, or the other way round", async () => {
  const prefix = await rows(
    "{ trigger: { use: fraction, share: 1 }, source: { use: guide, model: reference }, amount: { use: fixed, share: 0.25 } }",
    "kl=[{ model: reference, coefficient: 0.01 }]",
    "mask=[{ use: roll_in, keep: after }]",
  );
  assert.ok(prefix.helped.length > 0);
  for (const { pattern } of prefix.helped)
    assert.match(pattern, /^g{1,2}W*$/, "an eighth of eight tokens, twice");
  const suffix = await rows(
    "{ trigger: always, source: { use: guide, model: reference, side: suffix }, amount: { use: fixed, share: 0.25 }, trains: written }",
    "kl=[{ model: reference, coefficient: 0.01 }]",
  );
  for (const { pattern, columns } of suffix.helped) {
    assert.match(pattern, /^W{1,2}g*$/);
    assert.ok(
      columns.logp_old!.every((value) => value < 0),
      "both can say how likely they were",
    );
  }
});

test("feedback goes after the attempt, or into the prompt of another", async () => {
  const on = await rows(
    "{ trigger: { use: fraction, share: 1 }, source: { use: feedback, field: feedback, place: continue }, ratio: shaped, trains: all }",
  );
  assert.ok(on.helped.length > 0);
  for (const { row, pattern } of on.helped) {
    assert.match(pattern, /^W*G{4}W*$/, "a line end, two letters, a line end");
    assert.ok(row.response!.includes("\nno\n"));
    const [[start, end]] = row.spans!["help"]! as [[number, number]];
    assert.equal(end - start, 4);
  }
  const retry = await rows(
    "{ trigger: wrong, source: { use: feedback, model: policy, max_tokens: 3, place: retry, ask: '{prompt}{attempt}?' }, context: strip, ratio: true_behaviour, place: append, rollouts: 1 }",
  );
  assert.ok(retry.helped.length > 0);
  for (const { row, pattern } of retry.helped) {
    assert.match(pattern, /^W+$/);
    assert.ok(row.index === 4 && row.help!.stripped === true && row.help!.error_rate! > 0);
    assert.ok(row.help!.prompt!.startsWith(row.prompt!));
  }
});

test("a probe is put after a failed attempt, of two the likelier, and the mixture knows both", async () => {
  const { helped, plain } = await rows(
    "{ trigger: wrong, source: { use: probe, pool: ['!!', '!?'], candidates: 2 }, ratio: mixture, trains: all, place: append }",
  );
  assert.ok(helped.length > 0 && plain.length === 32);
  for (const { row, pattern, columns } of helped) {
    assert.match(pattern, /^W*GGW+$/);
    const [[start]] = row.spans!["help"]! as [[number, number]];
    assert.equal(columns.logp_old![start], 0, "the first token of a pool that begins alike");
    assert.ok(Math.abs(columns.logp_old![start + 1]! - Math.log(0.5)) < 1e-6);
  }
});

test("of a step's probes the likeliest stay, as many as the plain rollouts allow, in the place of the answer", async () => {
  const { helped, plain } = await rows(
    "{ trigger: wrong, source: { use: probe, pool: ['!!', '!?', '?'], keep: 0.125, follow: 0.5, cut: b }, ratio: { use: mixture, alpha: share, errors: step, plain: mixture }, trains: all, place: append }",
  );
  const steps = [...new Set(plain.map(({ step }) => step))];
  assert.equal(plain.length, 16 * steps.length);
  assert.ok(helped.length > 0, "some attempt had the letter");
  let most = 0.125;
  for (const step of steps) {
    const own = helped.filter((one) => one.step === step);
    assert.ok(own.length <= Math.floor(16 * most + 1e-9), `${own.length} of ${most}`);
    for (const { row, columns } of own) {
      const [[from]] = row.spans!["help"]! as [[number, number]];
      const attempt = plain.find(
        (one) =>
          one.step === step &&
          one.row.group === row.group &&
          one.row.response!.startsWith(`${row.response!.slice(0, from)}b`),
      );
      assert.ok(attempt !== undefined, "a plain rollout of the group goes on with what it was cut before");
      assert.ok(columns.mask!.every((one) => one === 1));
    }
    const failed = plain.filter((one) => one.step === step && one.row.reward !== 1).length;
    for (const { row } of [...own, ...plain.filter((one) => one.step === step)])
      assert.deepEqual(row.mixture, { explored: own.length / (16 + own.length), errors: failed / 16 });
    const right = own.filter(({ row }) => row.reward === 1).length;
    most = 0.5 * most + (0.5 * right) / Math.max(1, own.length);
  }
});

test("rewrites of the expert's answer enter where they are right, and train with the bare prompt", async () => {
  const { helped, plain } = await rows(
    "{ trigger: all_fail, source: { use: reformulate, show: answer, template: '{help}={prompt}' }, context: strip, ratio: recomputed, enter: successes }",
  );
  assert.equal(helped.length + plain.length, 32);
  assert.ok(helped.every(({ row }) => row.reward === 1));
});

test("rubrics, hints and instructions are in the prompt, as much of them as the share says", async () => {
  const rubric = await rows("{ trigger: always, source: rubric, amount: { use: group_gradient, slope: 0 } }");
  const lines = rubric.helped.map(({ row }) => (row.help!.prompt?.match(/^- /gm) ?? []).length);
  assert.deepEqual(lines.slice(0, 4), [2, 1, 1, 0], "round of half of 3, 2, 1 and 0 criteria");
  const hint = await rows(
    "{ trigger: always, source: hint, amount: { use: fixed, share: 0.5 }, context: strip, ratio: true_behaviour }",
  );
  assert.ok(hint.helped.every(({ row }) => row.help!.prompt!.includes("Hint: it ends\n")));
  const prior = await rows("{ trigger: always, source: { use: instruction, text: 'Go' } }");
  assert.ok(prior.helped.every(({ row }) => row.help!.prompt === `Go\n${row.prompt!}`));
  assert.equal(prior.plain.length, 0);
});

test("SEELE: a group's rollouts come in rounds, each with the share that the ones before ask for", async () => {
  const { helped } = await rows(
    "{ trigger: always, source: { use: solution, by: character }, amount: { use: irt, rounds: 4 } }",
  );
  assert.equal(helped.length, 32);
  const group = helped.slice(0, 4).map(({ row }) => row.help!);
  assert.deepEqual(
    group.map(({ round }) => round),
    [0, 1, 2, 3],
  );
  assert.ok(group.every(({ curve }) => curve !== undefined && curve.slope > 0));
  assert.ok(group[1]!.share !== group[0]!.share);
});

test("help that is missing or too long leaves the rollout as it was, with an event that says so", async () => {
  for (const [source, why] of [
    ["{ use: hint, field: nothing }", /the task has no such field/],
    ["{ use: hint, template: '{prompt}{help}" + "x".repeat(150) + "' }", /fill the model's context/],
  ] as const) {
    const run = await finished(`{ trigger: always, source: ${source} }`);
    try {
      const events = ofKind(run.records(), "event").filter(({ name }) => name === "no-help");
      assert.equal(events.length, 2, "once a step");
      assert.match(events[0]!.message, why);
      assert.equal(rowsOf(run).filter(({ row }) => row.help === undefined).length, 32, "plain ones instead");
    } finally {
      run.remove();
    }
  }
});

test("start states: a shrinking part of the solution, a guide's text, the middle of an earlier rollout; a resumed run is the same", async () => {
  for (const start of [
    "{ use: reverse, by: character, from: 0.5, step: 0.5, advance_at: 0, window: 16 }",
    "{ use: guide, model: reference, low: 0.25, high: 0.25 }",
    "{ use: branch, share: 1, of: all }",
  ]) {
    const run = testRun([
      ...base,
      "stages.practice.steps=3",
      "checkpoint={ every: 1, keep: 9 }",
      `curriculum.start=${start}`,
      "kl=[{ model: reference, coefficient: 0.01 }]",
    ]);
    try {
      assert.equal(await run.work(), 0, run.ending());
      const whole = run.records();
      const all = rowsOf(run);
      const begun = all.filter(({ row }) => row.help !== undefined);
      assert.ok(begun.length > 0, start);
      for (const { pattern } of begun) assert.match(pattern, /^g+W+$/);
      if (start.includes("reverse"))
        assert.ok(
          begun.every(({ step }) => step === 2),
          "sixteen rollouts at a rate of 0 take the start to the prompt",
        );
      if (start.includes("branch")) assert.ok(begun.every(({ step }) => step > 2));
      rmSync(join(run.folder, "checkpoints", "4"), { recursive: true });
      assert.equal(await run.work(1), 0, run.ending(1));
      assert.deepEqual(essence(run.records(1), 4), essence(whole, 4));
    } finally {
      run.remove();
    }
  }
});
