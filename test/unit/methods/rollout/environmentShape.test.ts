/** Episodes that a task's environment answers, in whole runs of the tiny model. */
import { seen } from "../../../support/testEnvironment.ts";
import assert from "node:assert/strict";
import { rmSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import type { RolloutRecordLog } from "../../../../shared/log/records.ts";
import { CharacterTokenizer } from "../../../../server/engine/tokenizers/characters.ts";
import { essence, ofKind, testRun, type TestRun } from "../../../support/runFolder.ts";

const tokenizer = new CharacterTokenizer();
const room = [
  "model.context=96",
  "rollout.max_tokens=5",
  "stages.warm-up.steps=2",
  "stages.practice.steps=3",
  "rollout.shape={ use: environment, turns: 4, observation: '<{text}>', seconds: 2 }",
  "reward.terms.environment={ use: environment, level: turn }",
  "reward.success={ terms: [environment], at_least: 0.6 }",
  "reward.terms.correct.weight=0",
  "advantage={ level: turn, baseline: leave_one_out, scale: none }",
  "evaluation.every=99",
];

async function finished(...set: readonly string[]): Promise<TestRun> {
  const run = testRun([...room, ...set]);
  assert.equal(await run.work(), 0, run.ending());
  return run;
}
const rolloutsOf = (run: TestRun, use = "train"): RolloutRecordLog[] =>
  ofKind(run.records(), "rollout").filter(({ step, row }) => step >= 2 && row.use === use);

/** What was said; numbers of the model differ in their last digits with what else it wrote. */
const played = (run: TestRun): unknown[] =>
  rolloutsOf(run).map(({ step, row, columns }) => [
    step,
    row.group,
    row.turns,
    row.reward,
    [...columns.tokens!],
  ]);

test("turns are rewarded by the environment, what it says is observed, and a group begins alike", async () => {
  const run = await finished("tasks.0.play={ use: digits, greets: true }");
  try {
    const rows = rolloutsOf(run);
    assert.equal(rows.length, 3 * 16);
    const lasts = new Map<string, string>();
    for (const { row, columns, step } of rows) {
      const last = /^..>\n#(\d)$/.exec(row.prompt!)![1]!;
      const group = `${step} ${row.group}`;
      assert.equal(lasts.get(group) ?? last, last, "the seed of all rollouts of a group is the same");
      lasts.set(group, last);
      assert.equal(tokenizer.decode(columns.context!), row.prompt);
      assert.match(row.task!.id!, /^reverse_text:\w\w$/);
      assert.deepEqual(row.played, {
        environment: true,
        calls: 0,
        failed_calls: 0,
        components: { turn: 3 },
      });
      const turns = row.turns!;
      assert.equal(turns.length, 5);
      turns.forEach(({ role, start, end, text = "", reward }, i) => {
        const observed = i % 2 === 1;
        assert.equal(role, observed ? "user" : "assistant");
        const tokens = tokenizer.decode(columns.tokens!.subarray(start, end));
        if (observed) assert.equal(tokens, `<${(i + 1) / 2}:${last}>`);
        assert.ok([...columns.origin!.subarray(start, end)].every((kind) => kind === (observed ? 2 : 0)));
        assert.ok([...columns.mask!.subarray(start, end)].every((mask) => mask === (observed ? 0 : 1)));
        const small = [...text].filter((letter) => letter >= "a").length;
        assert.equal(reward, i % 4 === 0 ? small / Math.max(1, text.length) : undefined);
      });
      const rewards = turns.map(({ role, reward = 0 }) => (role === "assistant" ? reward : null));
      assert.deepEqual(row.rewards!["environment"], { level: "turn", values: rewards });
    }
    assert.ok(new Set(lasts.values()).size > 1, "each group has a seed of its own");
    const { values } = ofKind(run.records(), "metrics").at(-1)!;
    assert.equal(values["episode/turns"], 3);
    assert.equal(values["episode/failed"], 0);
    assert.equal(values["reward/environment/component/turn"], 3);
    assert.ok(Number(values["groups/success_rate"]) > 0, "the reward decides what a success is");
    assert.equal(seen.open, 0, "every environment is closed at the end");
    assert.ok(rolloutsOf(run, "evaluate").every(({ row }) => row.played?.environment === true));
    assert.ok(
      !Object.keys(ofKind(run.records(), "evaluation").at(-1)!.metrics).some((name) =>
        name.includes("attempt"),
      ),
    );
  } finally {
    run.remove();
  }
});

test("an episode that is cut off by its number of turns ends with `length`", async () => {
  const run = await finished("tasks.0.play=digits", "rollout.shape.turns=2");
  try {
    for (const { row } of rolloutsOf(run)) {
      assert.equal(row.finish, "length");
      assert.equal(row.turns!.length, 3);
    }
  } finally {
    run.remove();
  }
});

test("an episode that fills the context is cut off, and the environment says what that is worth", async () => {
  const run = await finished(
    "tasks.0.play={ use: digits, turns: 9, ends: 5 }",
    "rollout.shape.turns=9",
    "model.context=24",
    // Of a model that reads more than a character a token no one knows before how long an episode may be.
    "model.tokenizer={ use: bpe, vocabulary: 270 }",
  );
  try {
    for (const { row, columns } of rolloutsOf(run)) {
      assert.equal(row.finish, "length");
      assert.ok(columns.context!.length + columns.tokens!.length <= 24);
      assert.ok(row.turns!.at(-1)!.reward! >= 5, "the last turn has what its end is worth");
    }
  } finally {
    run.remove();
  }
});

test("what throws or is never answered is an error of its rollout, and the run goes on", async () => {
  const run = await finished(
    "tasks.0.play={ use: digits, throws: a, hangs: b }",
    "rollout.shape.seconds=0.3",
  );
  try {
    const rows = rolloutsOf(run);
    const failed = rows.filter(({ row }) => row.failed !== undefined);
    assert.ok(failed.length > 0 && failed.length < rows.length);
    for (const { row, columns } of failed) {
      const { text = "" } = row.turns!.at(-1)!;
      assert.equal(
        row.failed,
        text.includes("a") ? "it cannot bear a" : "the environment did not answer within 0.3 seconds",
      );
      assert.equal(row.finish, "error");
      assert.deepEqual(row.errors, { correct: row.failed, environment: row.failed });
      assert.equal(row.reward, null);
      assert.ok(columns.mask!.every((mask) => mask === 0));
    }
    assert.ok(new Set(failed.map(({ row }) => row.failed)).size === 2);
    const last = ofKind(run.records(), "metrics").at(-1)!;
    const own = rows.filter(({ step }) => step === last.step);
    const lost = own.filter(({ row }) => row.failed !== undefined).length;
    assert.equal(last.values["episode/failed"], lost / own.length);
    const events = ofKind(run.records(), "event").filter(({ name }) => name === "episode-failed");
    assert.match(events[0]!.message, /^\d+ episodes? failed: /);
    assert.ok(!ofKind(run.records(), "event").some(({ name }) => name === "reward-error"));
    assert.equal(seen.open, 0);
  } finally {
    run.remove();
  }
});

test("an episode that waits holds no other up, and each is the same at any pace", async () => {
  const plain = await finished("tasks.0.play=digits");
  // Half of the first turns wait until others have gone on: with a barrier by turn they never would.
  const waited = await finished("tasks.0.play={ use: digits, gate: 6 }", "rollout.shape.seconds=30");
  const few = await finished("tasks.0.play={ use: digits, most: 2 }");
  try {
    assert.deepEqual(played(waited), played(plain));
    assert.deepEqual(played(few), played(plain));
    assert.ok(seen.most >= 16);
  } finally {
    for (const run of [plain, waited, few]) run.remove();
  }
});

for (const [how, restores] of [
  ["by the environment's state", true],
  ["by its seed and turns again", false],
] as const)
  test(`groups begin in the middle of earlier episodes, ${how}, also after a resume`, async () => {
    const run = await finished(
      `tasks.0.play={ use: digits, greets: true, restores: ${restores} }`,
      "stages.practice.steps=6",
      "checkpoint={ every: 2, keep: 9 }",
      "curriculum.start={ use: mid_episode, share: 0.5 }",
    );
    try {
      const begun = rolloutsOf(run).filter(({ row }) => row.help !== undefined);
      assert.ok(begun.length > 0);
      for (const { row } of begun) {
        assert.equal(
          row.turns!.filter(({ role }) => role === "assistant").length,
          3,
          "it goes on from there",
        );
        assert.equal(row.turns!.at(-2)!.text!.split(":")[0], "2");
        assert.match(row.prompt!, /^..>\n#\d$/, "what the environment said first is not said twice");
        assert.equal(row.failed, undefined);
      }
      const whole = run.records();
      for (const step of [5, 7]) rmSync(join(run.folder, "checkpoints", String(step)), { recursive: true });
      assert.equal(await run.work(1), 0, run.ending(1));
      assert.deepEqual(essence(run.records(1), 4), essence(whole, 4));
    } finally {
      run.remove();
    }
  });

test("an environment that answers otherwise to the same turns fails the rollouts that it cannot begin", async () => {
  const run = await finished(
    "tasks.0.play={ use: digits, restores: false, drifts: true }",
    "stages.practice.steps=4",
    "curriculum.start={ use: mid_episode, share: 0.5 }",
  );
  try {
    const begun = rolloutsOf(run).filter(({ row }) => row.help !== undefined);
    assert.ok(begun.length > 0);
    for (const { row } of begun)
      assert.match(
        row.failed!,
        /to turn 1 it says "1:\d:\d+", where it said "1:\d:\d+"\. Let the seed of `reset`/,
      );
    assert.ok(rolloutsOf(run).some(({ row }) => row.help === undefined && row.failed === undefined));
  } finally {
    run.remove();
  }
});
