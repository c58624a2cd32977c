import assert from "node:assert/strict";
import { test } from "node:test";
import { effective } from "../../../../server/analysis/evidence/json.ts";
import { sparkline } from "../../../../server/analysis/evidence/numbers.ts";
import { endOfLine, rangeOf } from "../../../../server/analysis/evidence/place.ts";
import { member } from "../../../../server/analysis/evidence/where.ts";
import { parseSource } from "../../../../server/config/text/source.ts";

const parsed = (text: string) =>
  parseSource("a.yaml", text, { file: "a.yaml", folder: "/", via: [], layer: "file" }).root;
const lineOf = (text: string, path: string): string => {
  const { start, end } = rangeOf(parsed(text), path);
  return (text.split("\n")[start.line] ?? "").slice(
    start.character,
    end.line === start.line ? end.character : undefined,
  );
};

const text = `extends: grpo
rollout:
  max_tokens: 64 # tokens
stages:
  - { name: easy, rollout: { max_tokens: 32 } }
reward: { terms: { correct: equation } }
kl:
  - { model: reference, coefficient: 0.1 }
`;

test("a value's place: the stage's own, else the top level's, else what would hold it, else where it comes from", () => {
  assert.equal(lineOf(text, "stages.easy.rollout.max_tokens"), "max_tokens: 32");
  assert.equal(lineOf(text, "stages.hard.rollout.max_tokens"), "max_tokens: 64");
  assert.equal(lineOf(text, "rollout.group"), "rollout");
  assert.equal(lineOf(text, "reward.terms.correct.weight"), "correct: equation");
  assert.equal(lineOf(text, "kl.0.coefficient"), "coefficient: 0.1");
  assert.equal(lineOf(text, "update.optimizer.lr"), "extends: grpo");
  assert.equal(lineOf("name: a\n", "update.optimizer.lr"), "name");
  assert.deepEqual(rangeOf(undefined, "rollout.group").start, { line: 0, character: 0 });
});

test("a note follows what is written, before a comment, and before a carriage return", () => {
  assert.deepEqual(endOfLine(text, 2), { line: 2, character: "  max_tokens: 64".length });
  assert.deepEqual(endOfLine("a: 1\r\nb: 2\r\n", 1), { line: 1, character: 4 });
  assert.deepEqual(endOfLine("", 7), { line: 7, character: 0 });
});

test("a stage's value holds before the top level's; maps merge, lists do not", () => {
  const tree = { rollout: { group: 4, stop: [1, 2] }, stages: [{ name: "easy", rollout: { stop: [3] } }] };
  assert.deepEqual(effective(tree, "easy", "rollout"), { group: 4, stop: [3] });
  assert.deepEqual(effective(tree, "other", "rollout"), { group: 4, stop: [1, 2] });
  assert.deepEqual(effective(tree, null, "rollout.group"), 4);
});

test("terms of any name can be asked for", () => {
  assert.equal(member("errors", "style"), "errors.style");
  assert.equal(member("rewards", 'my "term"'), 'rewards["my \\"term\\""]');
});

test("a course has a block for every value, gaps included, and is level where nothing moves", () => {
  assert.equal(sparkline([0, 1]), "▁█");
  assert.equal(sparkline([2, 2, Number.NaN]), "▄▄ ");
  assert.equal(sparkline([]), "");
  assert.equal(sparkline(Array.from({ length: 1000 }, (_, index) => index)).length, 40);
});
