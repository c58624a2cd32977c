/** Episodes of several attempts in whole runs of the tiny model: what is said, what trains, what is rewarded and measured. */
import assert from "node:assert/strict";
import { rmSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import type { RolloutRecordLog } from "../../../../shared/log/records.ts";
import { CharacterTokenizer } from "../../../../server/engine/tokenizers/characters.ts";
import { essence, ofKind, testRun, type TestRun } from "../../../support/runFolder.ts";

const tokenizer = new CharacterTokenizer();
const attempts = "{ use: multi_attempt, low: 1, high: 3, feedback: 'no {left}' }";
const room = ["model.context=64", "rollout.max_tokens=4"];

async function finished(...set: readonly string[]): Promise<TestRun> {
  const run = testRun(["checkpoint.keep=9", ...room, ...set]);
  assert.equal(await run.work(), 0, run.ending());
  return run;
}
const rolloutsOf = (run: TestRun, use = "train"): RolloutRecordLog[] =>
  ofKind(run.records(), "rollout").filter(({ step, row }) => step >= 10 && row.use === use);

const own = ({ row }: RolloutRecordLog): NonNullable<typeof row.turns> =>
  row.turns!.filter(({ role }) => role === "assistant");

/** Whether an attempt answers its task. */
const isRight = ({ row }: RolloutRecordLog, text: string | undefined): boolean =>
  text?.trim() === row.task!.data!["answer"];

test("after a wrong attempt it is said how many are left, until one is right or none is", async () => {
  const run = await finished(`rollout.shape=${attempts}`);
  try {
    const rows = rolloutsOf(run);
    assert.equal(rows.length, 10 * 16);
    const tries = new Set(rows.map(({ row }) => row.tries));
    assert.deepEqual([...tries].sort(), [1, 2, 3]);
    assert.ok(rows.some((one) => own(one).length === 3) && rows.some((one) => own(one).length === 1));
    for (const one of rows) {
      const { row, columns } = one;
      const made = own(one);
      assert.ok(made.length <= row.tries!);
      made.forEach(({ text }, i) => {
        const last = i + 1 === made.length;
        assert.equal(isRight(one, text) || made.length === row.tries, last || made.length === row.tries);
        if (!last) assert.ok(!isRight(one, text), `${text} is wrong`);
      });
      assert.equal(row.rewards!["correct"], isRight(one, made.at(-1)!.text) ? 1 : 0, "the last one is paid");
      let at = 0;
      row.turns!.forEach(({ role, start, end, text }, i) => {
        assert.equal(start, at);
        at = end;
        const tokens = [...columns.tokens!.subarray(start, end)];
        assert.equal(tokenizer.decode(tokens), text);
        const observed = role === "user";
        assert.equal(observed, i % 2 === 1);
        if (observed) assert.equal(text, `no ${row.tries! - (i + 1) / 2}`);
        const kinds = [...columns.origin!.subarray(start, end)];
        assert.ok(kinds.every((kind) => kind === (observed ? 2 : 0)));
        assert.ok([...columns.mask!.subarray(start, end)].every((mask) => mask === (observed ? 0 : 1)));
        assert.ok([...columns.logp_old!.subarray(start, end)].every((p) => Number.isNaN(p) === observed));
        if (!observed) assert.ok(end - start <= 4);
      });
      assert.equal(at, columns.tokens!.length);
    }
  } finally {
    run.remove();
  }
});

test("what is said to the policy counts for no length, and first attempts are those of single responses", async () => {
  const [run, single] = [await finished(`rollout.shape=${attempts}`), await finished()];
  try {
    const [metrics] = ofKind(run.records(), "metrics").filter(({ step }) => step === 10);
    const first = rolloutsOf(run).filter(({ step }) => step === 10);
    const written = first.reduce(
      (sum, { columns }) => sum + columns.origin!.filter((kind) => kind === 0).length,
      0,
    );
    assert.equal(metrics!.values["tokens/generated"], written);
    assert.equal(metrics!.values["rollout/length"], written / first.length);
    const plain = rolloutsOf(single).filter(({ step }) => step === 10);
    assert.deepEqual(
      first.map((one) => own(one)[0]!.text),
      plain.map(({ row }) => row.response),
    );
    assert.ok(plain.every(({ row }) => row.turns === undefined && row.tries === undefined));
  } finally {
    run.remove();
    single.remove();
  }
});

test("attempts that share their tokens end when those are used up", async () => {
  const run = await finished(
    "rollout.shape={ use: self_correct, attempts: 3, instruction: ';', budget: episode }",
    "rollout.max_tokens=5",
  );
  try {
    for (const one of rolloutsOf(run)) {
      const used = own(one).reduce((sum, { start, end }) => sum + end - start, 0);
      assert.ok(used <= 5);
      assert.ok(used === 5 || own(one).length === 3, `${used} tokens, ${own(one).length} attempts`);
    }
  } finally {
    run.remove();
  }
});

test("an episode that fills the context is cut off", async () => {
  const run = await finished(
    "rollout.shape={ use: self_correct, attempts: 9, instruction: 'and once more, please' }",
    // Of a model that reads more than a character a token no one knows before how long an episode may be.
    "model.tokenizer={ use: bpe, vocabulary: 270 }",
  );
  try {
    const rows = rolloutsOf(run);
    assert.ok(
      rows.every(
        ({ row, columns }) =>
          columns.context!.length + columns.tokens!.length <= 64 && row.finish === "length",
      ),
    );
    assert.ok(rows.every((one) => own(one).length > 1 && own(one).length < 9));
  } finally {
    run.remove();
  }
});

test("evaluations report success after each attempt, what is repaired and what is spoiled", async () => {
  const run = await finished(
    `rollout.shape=${attempts}`,
    "evaluation={ every: 99, prompts: 16, pass_at: [1], record: 64 }",
  );
  try {
    const last = ofKind(run.records(), "evaluation").at(-1)!;
    const { metrics } = last;
    const answers = rolloutsOf(run, "evaluate").filter(({ step }) => step === last.step);
    assert.ok(
      answers.every(({ row }) => row.tries === 3),
      "as many attempts as any",
    );
    const drawn = answers.filter(({ row }) => row.index === 1);
    for (const k of [1, 2, 3]) {
      const right = drawn.filter((one) =>
        own(one)
          .slice(0, k)
          .some(({ text }) => isRight(one, text)),
      );
      assert.equal(metrics[`eval/attempt_${k}/pass@1`], right.length / drawn.length);
    }
    const told = ofKind(run.records(), "evaluation").map((one) => Object.keys(one.metrics).join());
    assert.equal(new Set(told).size, 1, "every evaluation tells of as many attempts");
    assert.equal(metrics["eval/attempt_3/pass@1"], metrics["eval/pass@1"]);
    assert.equal(metrics["eval/attempt_3/greedy"], metrics["eval/greedy"]);
    assert.equal(metrics["eval/attempts/spoiled"], 0, "a right attempt ends an episode");
    const gain = metrics["eval/attempt_3/pass@1"]! - metrics["eval/attempt_1/pass@1"]!;
    assert.ok(Math.abs(metrics["eval/attempts/gain"]! - gain) < 1e-9);
    assert.equal(metrics["eval/attempts/mended"], metrics["eval/attempts/gain"]);
  } finally {
    run.remove();
  }
});

test("groups begin in the middle of earlier episodes, and a resumed run plays on as the first did", async () => {
  const run = await finished(
    `rollout.shape=${attempts}`,
    "curriculum.start={ use: mid_episode, share: 0.5, of: failures }",
    "rollout.prefix='>'",
  );
  try {
    const rows = rolloutsOf(run);
    const begun = rows.filter(({ row }) => row.help !== undefined);
    assert.ok(begun.length > 0 && begun.length < rows.length);
    assert.ok(rows.filter(({ step }) => step === 10).every(({ row }) => row.help === undefined));
    const episodes = rows.filter(({ row }) => row.help === undefined);
    for (const one of begun) {
      const { row, columns, step } = one;
      const given = row.help!.given!;
      assert.equal(row.help!.use, "mid_episode");
      assert.equal(row.source, "guided");
      const boundary = row.turns!.findIndex(({ end }) => end === given);
      assert.equal(row.turns![boundary]!.role, "user", "behind what was said to an attempt");
      assert.ok(columns.mask!.subarray(0, given).every((mask) => mask === 0));
      assert.ok(columns.mask!.subarray(given).some((mask) => mask === 1));
      const before = [...columns.tokens!.subarray(0, given)].join();
      const from = episodes.find(
        (other) =>
          other.step < step &&
          other.row.task!.id === row.task!.id &&
          other.row.tries === row.tries &&
          [...other.columns.tokens!.subarray(0, given)].join() === before,
      );
      assert.ok(from !== undefined, "an earlier episode stood there");
      assert.ok(!isRight(from, own(from).at(-1)!.text!.slice(1)), "one that failed");
      const mates = begun.filter((other) => other.step === step && other.row.group === row.group);
      assert.equal(mates.length, 4, "all of a group begin alike");
      assert.ok(
        own(one).every(({ text }) => text!.startsWith(">")),
        "every attempt begins with the prefix",
      );
    }
    const whole = run.records();
    rmSync(join(run.folder, "checkpoints", "19"), { recursive: true });
    assert.equal(await run.work(1), 0, run.ending(1));
    assert.deepEqual(essence(run.records(1), 15), essence(whole, 15));
  } finally {
    run.remove();
  }
});

test("the greedy baseline plays episodes, and a question may say how many attempts there are", async () => {
  const run = await finished(
    "rollout.shape={ use: multi_attempt, low: 2, high: 2, feedback: 'no', ask: '{left} {prompt}' }",
    "advantage={ baseline: greedy, scale: none }",
  );
  try {
    const rows = rolloutsOf(run);
    assert.ok(rows.every(({ row }) => typeof row.reward_baseline === "number"));
    for (const { row, columns } of rows) assert.equal(tokenizer.decode(columns.context!), `2 ${row.prompt}`);
  } finally {
    run.remove();
  }
});
