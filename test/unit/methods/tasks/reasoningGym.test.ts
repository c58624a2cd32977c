/** Tasks and scores of reasoning-gym, where a Python has the package. */
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { test } from "node:test";
import { UserError } from "../../../../shared/lib/errors.ts";
import type { Task } from "../../../../server/core/task.ts";
import type { Batch } from "../../../../server/core/rollouts.ts";
import { splitOf } from "../../../../server/core/split.ts";
import { randomStream } from "../../../../server/lib/random.ts";
import { reasoningGymTerm } from "../../../../server/methods/reward/reasoningGym.ts";
import { reasoningGym } from "../../../../server/methods/tasks/reasoningGym/reasoningGym.ts";
import { objectHost } from "../../../support/objectHost.ts";
import { pythonWith, rewardPackages } from "../../../support/pythonPackages.ts";
import { scoring } from "../../../support/pythonReward.ts";
import { thorough } from "../../../support/thorough.ts";
import { batchOf, made } from "../../support.ts";

await objectHost();

const found = pythonWith("reasoning_gym", rewardPackages, thorough);
const python = found.kind === "python" ? found.path : "python3";
const skip = found.kind === "none" && found.why;

const datasets = [
  "ab",
  "base_conversion",
  "basic_arithmetic",
  "bitwise_arithmetic",
  "caesar_cipher",
  "calendar_arithmetic",
  "chain_sum",
  "course_schedule",
  "decimal_arithmetic",
  "family_relationships",
  "fraction_simplification",
  "isomorphic_strings",
  "leg_counting",
  "letter_jumble",
  "number_sorting",
  "palindrome_generation",
  "ransom_note",
  "simple_equations",
  "syllogism",
  "word_sorting",
];

/** Rows whose tasks have their data, and the answers. */
const answered = (tasks: readonly Task[], answer: (task: Task) => string): Batch => {
  const rows = batchOf(
    tasks.map((task, index) => ({ step: 0, group: task.id, index, response: answer(task), tokens: [1] })),
  );
  return { ...rows, records: rows.records.map((record, row) => ({ ...record, task: tasks[row]! })) };
};

test(
  "20 datasets: reference answers at full marks, nonsense near zero, and each task on one side of the split",
  { skip },
  async () => {
    const source = made(reasoningGym, { datasets, size: 30, python });
    assert.deepEqual(source.values, datasets);
    const tasks = datasets.flatMap((name) =>
      (["train", "evaluate"] as const).flatMap((split) =>
        Array.from({ length: 4 }, (_, at) => {
          const task = source.draw(split, name, randomStream(1, name, at));
          assert.ok(task !== null, `${name} has no ${split} task`);
          assert.deepEqual(task, source.draw(split, name, randomStream(1, name, at)));
          assert.deepEqual([splitOf(task.id), source.valueOf(task)], [split, name]);
          return task;
        }),
      ),
    );
    const term = made(reasoningGymTerm, { python });
    try {
      await term.prepare!();
      const right = await term.score(
        answered(tasks, ({ solution }) => `So.\n${solution!}`),
        scoring(),
      );
      for (const [at, one] of right.entries())
        assert.deepEqual(one, { kind: "value", value: 1 }, `${tasks[at]!.id}: ${tasks[at]!.answer}`);
      const wrong = await term.score(
        answered(tasks, () => "<answer>nonsense 17</answer>"),
        scoring(),
      );
      // Some datasets give a part of the mark for a part of the answer.
      const marks = wrong.map((one) => (one.kind === "value" ? one.value : Number.NaN));
      assert.ok(
        Math.max(...marks) <= 0.25 && marks.reduce((sum, one) => sum + one, 0) / marks.length <= 0.03,
        `${marks}`,
      );
      const untagged = await term.score(
        answered(tasks.slice(0, 2), ({ answer }) => answer!),
        scoring(),
      );
      for (const one of untagged) assert.ok(one.kind === "value" && one.value <= 0.05, JSON.stringify(one));
      const task = tasks[0]!;
      const others = [
        { ...task, data: {} },
        { ...task, data: { ...task.data, question: "Another?" } },
      ];
      const [none, changed] = await term.score(
        answered(others, () => ""),
        scoring(),
      );
      assert.equal(none?.kind, "none");
      assert.match(changed?.kind === "error" ? changed.message : "", /another version/);
    } finally {
      await term.close!();
    }
  },
);

test(
  "levels of a curriculum are arms, harder ones by `vary` and the box, with attributes of their own",
  { skip },
  () => {
    const source = made(reasoningGym, { datasets: ["leg_counting"], levels: [0, 3], size: 20, python });
    assert.deepEqual(source.values, ["leg_counting@0", "leg_counting@3"]);
    const animals = (task: Task): number => (task.prompt.match(/\d+ [a-z]+/g) ?? []).length;
    const easy = source.draw("train", "leg_counting@0", randomStream(1, "a"))!;
    assert.equal(animals(easy), 1);
    const harder = source.vary!(easy, 2, randomStream(1, "b"))!;
    assert.equal(source.valueOf(harder), "leg_counting@2");
    assert.equal(source.vary!(easy, -1, randomStream(1, "b")), null);
    assert.deepEqual(
      source.box?.map(({ name }) => name),
      ["level"],
    );
    assert.equal(
      source.valueOf(source.drawAt!({ level: 3 }, "train", randomStream(1, "c"))!),
      "leg_counting@3",
    );
    const many = made(reasoningGym, {
      datasets: ["leg_counting"],
      config: { leg_counting: { min_animals: 9, max_animals: 9 } },
      size: 20,
      python,
    });
    assert.equal(animals(many.draw("train", undefined, randomStream(1, "d"))!), 9);
  },
);

test("a Python without the package is an error with the line that installs it; so is a dataset that does not exist", async () => {
  const lacks = (error: unknown): boolean => {
    assert.ok(error instanceof UserError);
    assert.match(error.message, /^reasoning-gym is not installed for /);
    assert.match(error.detail.action ?? "", / -m pip install reasoning-gym`/);
    return true;
  };
  const empty = process.env["GRADUS_EMPTY_PYTHON"] ?? "/usr/bin/python3";
  if (spawnSync(empty, ["-c", "import reasoning_gym"]).status === 1) {
    const source = made(reasoningGym, { datasets: ["ab"], python: empty });
    assert.throws(() => source.draw("train", undefined, randomStream(1)), lacks);
    const term = made(reasoningGymTerm, { python: empty });
    try {
      await assert.rejects(term.prepare!(), lacks);
    } finally {
      await term.close!();
    }
  }
  if (skip === false)
    assert.throws(
      () => made(reasoningGym, { datasets: ["leg_count"], python }).draw("train", undefined, randomStream(1)),
      /has no dataset `leg_count`\. It has .*leg_counting/,
    );
});
