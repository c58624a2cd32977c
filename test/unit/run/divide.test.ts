/** Steps and spans of responses: found in the text, and read by rewards, masks and advantages of a run. */
import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { loadConfig } from "../../../server/rules/load.ts";
import { divide } from "../../../server/run/step/generate/divide.ts";
import type { Tokenizer } from "../../../server/core/policy.ts";
import { batchOf } from "../../support/batch.ts";
import { minimal, ofKind, testRun } from "../../support/runFolder.ts";

/** Tokens are texts of their own; 0 ends a response and is written out. */
const words = ["<end>", "a", "b\n", "\n", "c\nd", "<x>", "</x>", "e"];
const tokenizer: Tokenizer = {
  size: words.length,
  eos: 0,
  pad: 0,
  encode: () => Int32Array.of(),
  decode: (tokens) => Array.from(tokens, (token) => words[token]!).join(""),
};
const rows = (...tokens: readonly (readonly number[])[]) =>
  batchOf(tokens.map((row) => ({ context: [1], tokens: row })));

test("a step ends with its text, begins at a token's beginning, and none is an end token alone", () => {
  const steps = (tokens: readonly number[], end: Parameters<typeof divide>[2]) =>
    divide(rows(tokens), tokenizer, end).records[0]!.steps;
  assert.deepEqual(steps([1, 2, 1, 2, 7], "\n"), [
    [0, 2],
    [2, 4],
    [4, 5],
  ]);
  assert.deepEqual(steps([1, 2, 0], "\n"), [[0, 3]], "what ends the response ends no step before it");
  assert.deepEqual(steps([1, 4, 1], "\n"), [
    [0, 2],
    [2, 3],
  ]);
  assert.deepEqual(steps([1, 3, 3, 1, 0], { regex: "\\n+" }), [
    [0, 3],
    [3, 5],
  ]);
  assert.deepEqual(steps([1, 1], "\n"), [[0, 2]]);
  assert.deepEqual(steps([], "\n"), [[0, 0]]);
});

test("spans are what a pattern finds or what is between two texts; what a rollout has already stays", () => {
  const batch = rows([1, 5, 7, 7, 6, 1], [1, 5, 7]);
  const { records } = divide(batch, tokenizer, undefined, {
    thought: { open: "<x>", close: "</x>" },
    first: { regex: "^(a)", flags: "" },
  });
  assert.deepEqual(records[0]!.spans, { thought: [[2, 4]], first: [[0, 1]] });
  assert.deepEqual(records[1]!.spans, { thought: [[2, 3]], first: [[0, 1]] });
  assert.ok(records.every(({ steps }) => steps === undefined));
  const own = {
    ...batch,
    records: batch.records.map((one) => ({ ...one, spans: { first: [[3, 4]] as const } })),
  };
  assert.deepEqual(
    divide(own, tokenizer, undefined, { first: { regex: "a", flags: "" } }).records[0]!.spans,
    {
      first: [[3, 4]],
    },
  );
});

const small = [
  "stages=null",
  "steps=2",
  "rollout={ prompts: 3, group: 3, max_tokens: 6 }",
  "evaluation={ prompts: 2, pass_at: [1] }",
  "model={ width: 32, layers: 1, heads: 2, hidden: 48 }",
];

test("process supervision end to end: a reward by step, an advantage by step, a mask by span", async () => {
  const folder = mkdtempSync(join(tmpdir(), "gradus-steps-"));
  const file = join(folder, "process.ts");
  writeFileSync(
    file,
    "export const score = ({ steps }: { steps: string[] }) => ({ level: 'step', values: steps.map((text) => text.length) });",
  );
  const run = testRun([
    ...small,
    `reward={ terms: { correct: null, process: { use: ${JSON.stringify(file)} } } }`,
    "rollout.steps={ regex: '[aeiou]' }",
    "rollout.spans.vowels={ regex: '[aeiou]' }",
    "mask=[{ use: spans, name: vowels, keep: outside }]",
    "advantage={ baseline: group_mean, scale: none, level: step }",
  ]);
  try {
    assert.equal(await run.work(), 0, run.ending());
    const rollouts = ofKind(run.records(), "rollout");
    assert.ok(rollouts.some(({ row }) => row.use === "evaluate"));
    assert.ok(rollouts.some(({ row }) => row.steps!.length > 1));
    for (const { row, columns } of rollouts) {
      const process = row.rewards!["process"];
      assert.ok(typeof process === "object" && process !== null && process.level === "step");
      assert.equal(process.values.length, row.steps!.length);
      assert.equal(Number(row.reward), row.response!.length);
      const vowels = new Set(
        row.spans!["vowels"]!.flatMap(([from, to]) => Array.from({ length: to - from }, (_, i) => from + i)),
      );
      // Every token of this model is a character.
      assert.equal(vowels.size, [...row.response!].filter((letter) => "aeiou".includes(letter)).length);
      if (row.use === "train") columns.mask!.forEach((kept, t) => assert.equal(kept, vowels.has(t) ? 0 : 1));
    }
    const train = rollouts.filter(({ row }) => row.use === "train");
    // Within a rollout of several steps the tokens of one step share an advantage, and the steps differ.
    assert.ok(
      train.some(({ row, columns: { advantages, mask } }) => {
        const each = row.steps!.map(
          ([from, to]) =>
            new Set([...advantages!.subarray(from, to)].filter((_, t) => mask![from + t] === 1)),
        );
        assert.ok(each.every(({ size }) => size <= 1));
        return new Set(each.flatMap((one) => [...one])).size > 1;
      }),
    );
  } finally {
    run.remove();
    rmSync(folder, { recursive: true });
  }
});

test("a pattern that is none, and a name that is none, are reported where they are written", () => {
  const wrong = (set: string): string => {
    const { diagnostics } = loadConfig(minimal, { set: [set] });
    return diagnostics
      .filter(({ severity }) => severity === "error")
      .map(({ message }) => message)
      .join();
  };
  assert.match(wrong("rollout.steps={ regex: '(' }"), /regular expression/);
  assert.match(wrong("rollout.spans.thought={ regex: '(' }"), /regular expression/);
  assert.notEqual(wrong("rollout.spans={ 'a b': { regex: a } }"), "");
  assert.equal(wrong("rollout.spans.thought={ open: '<a>', close: '</a>' }"), "");
});
