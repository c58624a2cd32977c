/** Environments as programs that make tasks easier or harder, and as readers of prompts. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { randomStream } from "../../../../server/lib/random.ts";
import type { TaskSource } from "../../../../server/core/slots/tasks.ts";
import { arithmetic } from "../../../../server/methods/tasks/arithmetic.ts";
import { countdown } from "../../../../server/methods/tasks/countdown.ts";
import { unfill } from "../../../../server/methods/tasks/generated.ts";
import { reverseText } from "../../../../server/methods/tasks/reverseText.ts";
import { splitOf } from "../../../../server/core/split.ts";
import { made } from "../../support.ts";

const sources: readonly (readonly [TaskSource, number])[] = [
  [made(countdown, { numbers: [4] }), 4],
  [made(arithmetic, { digits: [3], operators: ["+", "-"] }), 3],
  [made(reverseText, { lengths: [5] }), 5],
];

test("a program goes beyond the config's difficulties, to train tasks only, and says where there is none", () => {
  for (const [source, value] of sources) {
    const parent = source.draw("train", undefined, randomStream(1))!;
    for (const by of [-2, -1, 0, 1, 2]) {
      const child = source.vary?.(parent, by, randomStream(source.name, by));
      assert.equal(child && source.valueOf(child), String(value + by), `${source.name} ${by}`);
      assert.notEqual(child?.id, parent.id);
      assert.equal(splitOf(child?.id ?? ""), "train");
    }
    assert.equal(source.vary?.(parent, -60, randomStream(1)), null);
    assert.equal(source.vary?.(parent, 90, randomStream(1)), null);
  }
});

test("an environment reads its own prompts back as the same tasks, and no others", () => {
  for (const [source] of sources)
    for (let i = 0; i < 30; i++) {
      const task = source.draw("train", undefined, randomStream("read", i))!;
      const read = source.read?.(`  ${task.prompt}\n`);
      assert.equal(read?.id, task.id);
      assert.equal(read?.answer, task.answer);
      assert.deepEqual(read?.data, task.data);
      assert.equal(source.read?.(`Please: ${task.prompt}?`), null);
    }
  const [[numbers]] = [sources[0]!];
  assert.equal(numbers.read?.("1 1=99:"), null, "not to be reached");
  assert.equal(numbers.read?.("1 99=100:"), null, "out of range");
  assert.equal(numbers.read?.("3 4=12:")?.data["target"], 12);
});

test("a template is read back: literal signs are themselves, a place that comes twice is the same twice", () => {
  const word = { a: "\\w+", b: "\\d+" };
  assert.deepEqual(unfill("({a}+{b})? ", "(x+12)?", word), { a: "x", b: "12" });
  assert.deepEqual(unfill("{a}, {a}!", "ho, ho!", word), { a: "ho" });
  assert.equal(unfill("{a}, {a}!", "ho, hi!", word), null);
  assert.deepEqual(unfill("{c}{b}", "{c}1", word), { b: "1" });
});
