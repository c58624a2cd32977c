/** Mends are edits of the text as it is written: comments, style and line endings stay. */
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Fix } from "../../../server/config/check/diagnostic.ts";
import { SourceEdits } from "../../../server/config/text/edits.ts";
import { parseSource } from "../../../server/config/text/source.ts";
import { applyEdits } from "../../../server/config/text/textEdits.ts";

type Mend = (edits: SourceEdits) => Fix | undefined;

function mended(text: string, mend: Mend): string | undefined {
  const base = { file: "/a.gradus.yaml", folder: "/", via: [], layer: "file" } as const;
  const fix = mend(new SourceEdits(text, parseSource("/a.gradus.yaml", text, base).root));
  return fix && applyEdits(text, fix.edits);
}

const set =
  (path: readonly (string | number)[], value: string): Mend =>
  (edits) =>
    edits.set(path, value, "");
const remove =
  (...path: readonly (string | number)[]): Mend =>
  (edits) =>
    edits.remove(path, "");

const cases: readonly [string, string, Mend, string | undefined][] = [
  ["a value in a flow map", "a: { b: 1, c: 2 } # kept\n", set(["a", "b"], "3"), "a: { b: 3, c: 2 } # kept\n"],
  ["a key into a flow map", "a: { b: 1 }\n", set(["a", "c"], "2"), "a: { b: 1, c: 2 }\n"],
  ["a key into an empty flow map", "a: {}\n", set(["a", "c"], "2"), "a: { c: 2 }\n"],
  [
    "a key into a block",
    "a:\n  b: 1 # one\nz: 0\n",
    set(["a", "c"], "2"),
    "a:\n  b: 1 # one\n  c: 2\nz: 0\n",
  ],
  ["a key with CRLF", "a:\r\n  b: 1\r\nz: 0\r\n", set(["a", "c"], "2"), "a:\r\n  b: 1\r\n  c: 2\r\nz: 0\r\n"],
  ["a block that is not there", "x: 1\n", set(["a", "b", "c"], "2"), "x: 1\na: { b: { c: 2 } }\n"],
  ["the first key of a file", "# nothing yet\n", set(["a"], "1"), "a: 1\n# nothing yet\n"],
  ["a value where there is none", "a:\nz: 0\n", set(["a", "b"], "2"), "a: { b: 2 }\nz: 0\n"],
  [
    "a short form",
    "reward: { terms: { ok: equation } }\n",
    set(["reward", "terms", "ok", "weight"], "2"),
    "reward: { terms: { ok: { use: equation, weight: 2 } } }\n",
  ],
  [
    "a model's short form",
    "model: tiny\n",
    set(["model", "width"], "64"),
    "model: { base: tiny, width: 64 }\n",
  ],
  [
    "a stage by its name",
    "stages:\n  - name: a\n    steps: 3\n  - name: b\n    steps: 4\n",
    set(["stages", "b", "steps"], "5"),
    "stages:\n  - name: a\n    steps: 3\n  - name: b\n    steps: 5\n",
  ],
  ["below nested blocks only", "a:\n  b:\n    c: 1\n", set(["a", "d"], "2"), "a:\n  b:\n    c: 1\n  d: 2\n"],
  ["not into text of several lines", "a: |\n  x\n  y\n", set(["a", "d"], "2"), undefined],
  ["not behind an alias", "x: &x { b: 1 }\na: *x\n", set(["a"], "2"), undefined],
  ["a key out of a flow map", "a: { b: 1, c: 2 }\n", remove("a", "c"), "a: { b: 1 }\n"],
  ["the first key out of a flow map", "a: { b: 1, c: 2 }\n", remove("a", "b"), "a: { c: 2 }\n"],
  ["the only key out of a flow map", "a: { b: 1 }\n", remove("a", "b"), "a: {}\n"],
  [
    "a block with what is below it",
    "a:\n  b:\n    c: 1\n    d: [1,\n      2]\n  e: 1\n",
    remove("a", "b"),
    "a:\n  e: 1\n",
  ],
  ["a text of several lines", "a: |\n  x\n  y\nb: 1\n", remove("a"), "b: 1\n"],
  ["the last line of a file without an end", "a: 1\nb: 2", remove("b"), "a: 1"],
  ["the first key of a list's item", "s:\n  - a: 1\n    b: 2\n", remove("s", 0, "a"), "s:\n  - b: 2\n"],
  ["an item of a list", "s: [1, 2, 3]\n", remove("s", 1), "s: [1, 3]\n"],
  ["not what is not there", "a: 1\n", remove("b"), undefined],
];

for (const [name, text, mend, wanted] of cases) test(name, () => assert.equal(mended(text, mend), wanted));

test("a key moves with its value, and never onto one that is there", () => {
  const move: Mend = (edits) => edits.move(["a", "b"], ["z", "b"], "");
  assert.equal(
    mended("a: { b: [1, 2], c: 0 }\nz: { y: 0 }\n", move),
    "a: { c: 0 }\nz: { y: 0, b: [1, 2] }\n",
  );
  assert.equal(mended("a:\n  b: 1\n  c: 0\n", move), "a:\n  c: 0\nz: { b: 1 }\n");
  assert.equal(mended("a: { b: 1, c: 0 }\nz: { b: 0 }\n", move), undefined);
});
