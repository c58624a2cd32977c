import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { UserError } from "../../../../shared/lib/errors.ts";
import { randomStream } from "../../../../server/lib/random.ts";
import { equals, parseExpression } from "../../../../server/methods/reward/expression.ts";
import type { TaskSource } from "../../../../server/core/slots/tasks.ts";
import { arithmetic } from "../../../../server/methods/tasks/arithmetic.ts";
import { countdown } from "../../../../server/methods/tasks/countdown.ts";
import { valueOf } from "../../../../server/methods/tasks/countdownExpressions.ts";
import { dataset } from "../../../../server/methods/tasks/dataset.ts";
import { reverseText } from "../../../../server/methods/tasks/reverseText.ts";
import { splitOf } from "../../../../server/core/split.ts";
import { made, temporary } from "../../support.ts";

const drawn = (source: TaskSource, split: "train" | "evaluate", n: number, value?: string) =>
  Array.from({ length: n }, (_, i) => source.draw(split, value, randomStream(7, "draw", i)));

test("every countdown task is solved by its solution, with each number once and a target in range", () => {
  const source = made(countdown, { numbers: [3, 4, 5], operators: ["+", "-", "*", "/"], limit: 50 });
  for (const task of drawn(source, "train", 200)) {
    assert.ok(task?.solution);
    const { numbers, target } = task.data;
    assert.ok(Array.isArray(numbers) && typeof target === "number");
    const parsed = parseExpression(task.solution);
    assert.ok(parsed.ok && equals(parsed.value, target), `${task.solution} = ${target}`);
    assert.deepEqual([...parsed.numbers].sort(), [...numbers].sort());
    assert.ok(target >= 1 && target < 50);
    assert.equal(task.prompt, `${numbers.join(" ")}=${target}:`);
  }
});

test("a countdown task's id does not depend on the order of its numbers, and equal keys draw equal tasks", () => {
  const source = made(countdown, {});
  const task = source.draw("train", "3", randomStream(1, "a"));
  assert.deepEqual(task, source.draw("train", "3", randomStream(1, "a")));
  const numbers = task?.data["numbers"];
  assert.ok(Array.isArray(numbers));
  assert.equal(
    task?.id,
    `countdown:${numbers
      .map(Number)
      .sort((a, b) => a - b)
      .join(",")}=${task?.data["target"]}`,
  );
  assert.equal(source.valueOf(task!), "3");
  assert.deepEqual(source.values, ["3", "4"]);
});

test("the split is the first four bytes of the id's SHA-256 below a fifth, and no draw crosses it", () => {
  const digest = createHash("sha256").update("countdown:1,2,3=6").digest();
  assert.equal(splitOf("countdown:1,2,3=6"), digest.readUInt32BE() / 2 ** 32 < 0.2 ? "evaluate" : "train");
  for (const source of [made(countdown, {}), made(arithmetic, {}), made(reverseText, {})]) {
    for (const split of ["train", "evaluate"] as const)
      for (const task of drawn(source, split, 50)) assert.equal(splitOf(task!.id), split);
  }
  const held = Array.from({ length: 8000 }, (_, i) => splitOf(`task ${i}`)).filter(
    (split) => split === "evaluate",
  ).length;
  assert.ok(Math.abs(held - 1600) < 4 * Math.sqrt(8000 * 0.2 * 0.8), String(held));
});

test("each countdown difficulty alone has at least 512 distinct held-out tasks", () => {
  const source = made(countdown, {});
  for (const value of ["3", "4"])
    assert.ok(new Set(drawn(source, "evaluate", 4000, value).map((task) => task!.id)).size >= 512, value);
});

test("flat expressions follow the precedence of operators, and divisions leave no remainder", () => {
  assert.equal(valueOf([2, 3, 4], ["+", "*"]), 14);
  assert.equal(valueOf([9, 3, 2], ["-", "*"]), 3);
  assert.equal(valueOf([8, 4, 2], ["/", "*"]), 4);
  assert.ok(Number.isNaN(valueOf([7, 2], ["/"])));
});

test("arithmetic answers are right, of the wanted length, and swapped sums are one task", () => {
  const source = made(arithmetic, { digits: [1, 2, 3], operators: ["+", "-", "*"] });
  for (const task of drawn(source, "train", 200, "2")) {
    const { left, right, operator } = task!.data;
    const [a, b] = [Number(left), Number(right)];
    assert.equal(task!.answer, String(operator === "+" ? a + b : operator === "-" ? a - b : a * b));
    assert.equal(Math.max(a, b).toString().length, 2);
    if (operator !== "-") assert.equal(task!.id, `arithmetic:${Math.min(a, b)}${operator}${Math.max(a, b)}`);
  }
  assert.equal(source.draw("train", "9", randomStream(1)), null);
});

test("reverse text reverses", () => {
  for (const task of drawn(made(reverseText, {}), "train", 20, "5"))
    assert.equal(task!.answer, [...String(task!.data["text"])].reverse().join(""));
});

const file = (lines: readonly string[]): string => {
  const path = join(temporary(), "train.jsonl");
  writeFileSync(path, lines.join("\n"));
  return path;
};
const twenty = Array.from({ length: 20 }, (_, i) =>
  JSON.stringify({ question: `q${i}`, answer: i, level: i % 2 }),
);

test("a dataset fills its templates, divides by difficulty and splits without overlap", () => {
  const source = made(dataset, {
    dataset: file(twenty),
    prompt: "Q: {question}",
    answer: "{answer}",
    difficulty: "level",
    epochs: 1,
  });
  assert.deepEqual([...source.values].sort(), ["0", "1"]);
  const ids = new Map<string, string[]>();
  for (const split of ["train", "evaluate"] as const) {
    const found: string[] = [];
    for (let i = 0; i < 40; i++) {
      const task = source.draw(split, undefined, randomStream(0));
      if (task !== null) found.push(task.id);
    }
    ids.set(split, found);
  }
  const train = ids.get("train")!;
  assert.equal(new Set(train).size, train.length, "one epoch draws each once, then the source is empty");
  assert.equal(new Set([...train, ...ids.get("evaluate")!]).size, 20);
  assert.ok(!ids.get("evaluate")!.some((id) => train.includes(id)));
  const task =
    source.draw("evaluate", undefined, randomStream(0)) ??
    assert.fail("the held-out part can be drawn again");
  assert.match(task.prompt, /^Q: q\d+$/);
  assert.equal(task.solution, task.answer);
});

test("a dataset goes on exactly where it was saved, across epochs", () => {
  const path = file(twenty);
  const open = (): TaskSource => made(dataset, { dataset: path, prompt: "{question}" });
  const whole = open();
  const order = Array.from({ length: 50 }, () => whole.draw("train", undefined, randomStream(0))?.prompt);
  const first = open();
  for (let i = 0; i < 23; i++) first.draw("train", undefined, randomStream(0));
  const second = open();
  second.load(JSON.parse(JSON.stringify(first.save())));
  assert.deepEqual(
    Array.from({ length: 27 }, () => second.draw("train", undefined, randomStream(0))?.prompt),
    order.slice(23),
  );
  const size = new Set(order).size;
  assert.notDeepEqual(order.slice(0, size), order.slice(size, 2 * size), "each epoch has its own order");
});

const refused = (run: () => unknown, message: RegExp, line?: number): void => {
  assert.throws(
    run,
    (error) =>
      error instanceof UserError &&
      message.test(error.message) &&
      (line === undefined || error.detail.line === line) &&
      error.detail.action !== undefined,
  );
};

test("bad datasets are refused with the file and the line", () => {
  refused(() => made(dataset, { dataset: "/nowhere/x.jsonl" }), /can't be read/);
  refused(() => made(dataset, { dataset: file(['{"prompt":"a"}', "{oops"]) }), /not JSON/, 1);
  refused(() => made(dataset, { dataset: file(['{"prompt":"a"}', "", "[1]"]) }), /must be a JSON object/, 2);
  refused(
    () => made(dataset, { dataset: file(['{"question":"a"}']) }),
    /no field "prompt"; it has question/,
    0,
  );
  refused(() => made(dataset, { dataset: file([""]) }), /no task/);
});

test("prompts beyond max_prompt are filtered, cut on the left, or refused", () => {
  const path = file(['{"prompt":"abcdef"}', '{"prompt":"ab"}']);
  const prompts = (overlong: "filter" | "left_truncate"): string[] => {
    const source = made(dataset, { dataset: path, max_prompt: 3, overlong, shuffle: false, epochs: 1 });
    return (["train", "evaluate"] as const).flatMap((split) =>
      [0, 1].flatMap(() => source.draw(split, undefined, randomStream(0))?.prompt ?? []),
    );
  };
  assert.deepEqual(new Set(prompts("filter")), new Set(["ab"]));
  assert.deepEqual(new Set(prompts("left_truncate")), new Set(["ab", "def"]));
  refused(
    () => made(dataset, { dataset: path, max_prompt: 3, overlong: "error" }),
    /6 tokens, more than max_prompt = 3/,
    0,
  );
});
