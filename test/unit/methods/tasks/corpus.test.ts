/** Plain text as tasks: nothing lost in cutting, nothing held out shown, what is hard to predict apart from what is not. */
import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { test } from "node:test";
import { UserError } from "../../../../shared/lib/errors.ts";
import { keyedRandom } from "../../../../server/core/config/keyedRandom.ts";
import type { Task } from "../../../../server/core/task.ts";
import type { TaskSource } from "../../../../server/core/slots/tasks.ts";
import { corpus } from "../../../../server/methods/tasks/corpus.ts";
import { blocksOf, unitsOf } from "../../../../server/methods/tasks/corpusText.ts";
import { quantilesOf, Surprise } from "../../../../server/methods/tasks/surprise.ts";

const file = resolve("test/fixtures/stages/corpus.txt");
const source = (more: object = {}, path = file): TaskSource =>
  corpus.create(corpus.params.parse({ corpus: path, block: 400, ...more }), {
    folder: ".",
    random: keyedRandom("corpus"),
    max_tokens: 8,
    group: 1,
    name: "corpus",
  });
const drawn = (from: TaskSource, n: number, split: "train" | "evaluate" = "train"): Task[] =>
  Array.from({ length: n }, (_, i) =>
    from.draw(split, undefined, keyedRandom("draw").fork(split, i)),
  ).flatMap((task) => task ?? []);

test("units are the text again, whichever they are", () => {
  const text = 'He said "no." Then, 3.5 times: he left!\n\nA new one? Yes.\nLast';
  for (const unit of ["sentence", "line", "paragraph", "word"] as const)
    assert.equal(unitsOf(text, unit).join(""), text);
  assert.deepEqual(unitsOf(text, "sentence"), [
    'He said "no." ',
    "Then, 3.5 times: he left!\n\n",
    "A new one? ",
    "Yes.\n",
    "Last",
  ]);
  assert.deepEqual(
    blocksOf([text], "sentence", 30).map(({ units }) => units.length),
    [2, 3],
  );
});

test("what follows, what is between, what was taken out: each is the text when it is put together", () => {
  const whole = (task: Task): string =>
    `${String(task.data["before"])}${task.answer ?? ""}${String(task.data["after"])}`;
  for (const predict of ["next_segment", "middle_segment", "next_token", "masked_span"] as const) {
    const tasks = drawn(source({ predict, before: 1 }), 40);
    assert.equal(tasks.length, 40);
    for (const task of tasks) {
      assert.equal(task.data["text"], whole(task));
      assert.ok((task.answer ?? "").trim() !== "", predict);
      const parts = { before: task.data["before"], after: task.data["after"] };
      const asked =
        predict === "next_segment" || predict === "next_token"
          ? parts.before
          : `${String(parts.before)}[MASK]${String(parts.after)}`;
      assert.equal(task.prompt, asked);
    }
  }
});

test("no held-out text is ever shown to training, and every run holds out the same", () => {
  const from = source({ predict: "next_segment", before: 2, block: 200 });
  const [train, held] = [drawn(from, 400), drawn(from, 100, "evaluate")];
  assert.ok(held.length === 100);
  const shown = new Set(train.map(({ id }) => id.split(":")[1]));
  for (const { id } of held) assert.ok(!shown.has(id.split(":")[1]));
  assert.deepEqual(drawn(source({ predict: "next_segment", before: 2, block: 200 }), 20), train.slice(0, 20));
});

test("a prompt is cut from its beginning", () => {
  for (const { prompt, data } of drawn(source({ before: 4, max_prompt: 20 }), 20)) {
    assert.ok(prompt.length <= 20);
    assert.ok(String(data["before"]).endsWith(prompt));
  }
});

test("entropy of the next word: counts smoothed by the words' own frequencies, summed out by hand", () => {
  const words = ["a", "b", "a", "c", "a", "b"];
  const frequency = { a: 3 / 6, b: 2 / 6, c: 1 / 6 };
  // Behind `a`: b twice, c once.
  const counts = { a: 0, b: 2, c: 1 };
  const p = (["a", "b", "c"] as const).map((word) => (counts[word] + frequency[word]) / 4);
  const by = p.reduce((sum, one) => sum - one * Math.log(one), 0);
  assert.ok(Math.abs(new Surprise(words).entropy("a") - by) < 1e-12);
  const base = Object.values(frequency).reduce((sum, one) => sum - one * Math.log(one), 0);
  assert.ok(Math.abs(new Surprise(words).entropy("z") - base) < 1e-12);
  assert.deepEqual(quantilesOf([3, 1, 1, 2]), [0.75, 0.125, 0.125, 0.5]);
});

test("bins are arms from low entropy on; `take` keeps a share of the places", () => {
  const from = source({ predict: "next_token", surprise_bins: 2 });
  assert.deepEqual(from.values, ["1", "2"]);
  for (const value of from.values)
    for (let i = 0; i < 10; i++) {
      const task = from.draw("train", value, keyedRandom("bin").fork(i));
      assert.equal(from.valueOf(task!), value);
    }
  // In this text the word after `The` is one of three animals, that after `cat` one of four verbs, after `.` anything.
  const followers = (take: readonly number[]): Set<string> =>
    new Set(
      drawn(source({ predict: "next_token", take, before: 1 }), 60).map(({ prompt }) =>
        prompt.trim().split(/\s+/).at(-1)!,
      ),
    );
  const [low, high] = [followers([0, 0.2]), followers([0.8, 1])];
  for (const word of low) assert.ok(!high.has(word), word);
});

test("lines of .jsonl are documents; what is no text, and too short a text, are named", () => {
  const folder = mkdtempSync(join(tmpdir(), "gradus-corpus-"));
  try {
    const path = join(folder, "text.jsonl");
    writeFileSync(path, `${JSON.stringify({ text: "One here. Two here. Three here." })}\n`.repeat(1));
    const broken = join(folder, "broken.jsonl");
    writeFileSync(broken, '{ "text": "One. Two." }\n{ "body": "no" }\n');
    const said = (make: () => unknown): UserError["detail"] & { message: string } => {
      try {
        make();
      } catch (error) {
        if (error instanceof UserError) return { ...error.detail, message: error.message };
        throw error;
      }
      assert.fail("nothing was refused");
    };
    assert.equal(said(() => source({}, broken)).line, 1);
    assert.equal(said(() => source({}, join(folder, "none.txt"))).code, "corpus-missing");
    const short = join(folder, "short.txt");
    writeFileSync(short, "Only one sentence");
    assert.equal(said(() => source({}, short)).code, "corpus-short");
  } finally {
    rmSync(folder, { recursive: true });
  }
});
