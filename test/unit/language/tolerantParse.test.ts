import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { toJson, type Origin, type SourceNode } from "../../../server/config/text/node.ts";
import { parseSource } from "../../../server/config/text/source.ts";
import { tolerantParse } from "../../../server/language/tolerant/tolerantParse.ts";

const origin: Omit<Origin, "range"> = { file: "f", folder: "", via: [], layer: "file" };
const read = (text: string): unknown => {
  const root = tolerantParse(text, origin);
  return root === undefined ? undefined : toJson(root);
};

/** Where each scalar begins, by its path. */
function places(node: SourceNode | undefined, path = ""): string[] {
  if (node === undefined) return [];
  const { line, character } = node.origin.range.start;
  if (node.kind === "map")
    return [...node.entries].flatMap(([key, { key: at, value }]) => [
      `${path}.${key} @${at.range.start.line}:${at.range.start.character}-${at.range.end.character}`,
      ...places(value, `${path}.${key}`),
    ]);
  if (node.kind === "list") return node.items.flatMap((item, index) => places(item, `${path}.${index}`));
  return node.value === null ? [] : [`${path} ${line}:${character}`];
}

const files = ["examples", "presets", "test/fixtures/config"]
  .flatMap((folder) =>
    readdirSync(folder, { recursive: true, encoding: "utf8" }).map((name) => join(folder, name)),
  )
  .filter((name) => name.endsWith(".yaml"))
  .sort();

describe("reading half-written text", () => {
  it("leaves a key whose colon was lost what lies below it", () => {
    assert.deepEqual(read("a: 1\nrollout\n  group: 8\n  te\nsteps: 3\n"), {
      a: 1,
      rollout: { group: 8, te: null },
      steps: 3,
    });
    assert.deepEqual(read("a: 1\nstages # here\n  - name: x\n    st\n"), {
      a: 1,
      stages: [{ name: "x", st: null }],
    });
    assert.deepEqual(read("a: 1\nrollout\nsteps: 3\n"), { a: 1, rollout: null, steps: 3 });
  });

  it("makes of a text without errors what the parser makes of it, at the same places", () => {
    assert.ok(files.length > 100);
    for (const file of files) {
      for (const ends of ["\n", "\r\n"]) {
        const text = readFileSync(file, "utf8").replaceAll("\n", ends);
        const parsed = parseSource(file, text, origin);
        if (parsed.diagnostics.length > 0) continue;
        assert.deepEqual(read(text), parsed.root === undefined ? undefined : toJson(parsed.root), file);
        assert.deepEqual(places(tolerantParse(text, origin)), places(parsed.root), file);
      }
    }
  });

  const whole: readonly (readonly [string, string])[] = [
    ["anchors and aliases", "a: &x { b: 1 }\nc: *x\nd:\n  <<: *x\n  e: 2\n"],
    ["lists at their key's depth", "a:\n- 1\n- b: 2\n  c: 3\nd: 4\n"],
    ["brackets over several lines", "a: [\n  1, # one\n  2\n  ]\nb: { c: d,\n  e: f }\n"],
    ["quotes", 'a: "x \\"y\\" {z}\\n"\nb: \'it\'\'s # no comment\'\n"c d": 1\n'],
    ["folded and literal texts", "a: >-\n  one\n  two\n\n  three\nb: |\n  x\n   y\nc: 1\n"],
    ["plain text over lines", "a: one\n  two\nb: http://x/y#z\n"],
    ["numbers and words", "a: [1, -2.5, 1.0e-6, .5, true, null, ~, 0x1f, 1.0.0, .inf]\n"],
    ["pairs in lists", "a: [b: 1, c]\n"],
    ["an explicit document", "%YAML 1.2\n---\na: 1\n"],
    ["nested lists", "- - 1\n  - 2\n-\n  - 3\n"],
  ];
  for (const [name, text] of whole)
    it(`reads ${name}`, () => {
      const parsed = parseSource("f", text, origin);
      assert.deepEqual(parsed.diagnostics, []);
      assert.deepEqual(read(text), parsed.root === undefined ? undefined : toJson(parsed.root));
    });

  const broken: readonly (readonly [string, string, unknown])[] = [
    ["an unclosed bracket ends with its block", "a: { b: [1, 2\nc: 3\n", { a: { b: [1, 2] }, c: 3 }],
    ["a key ends the list before it", "a: { b: [1, 2, c: 3 }\nd: 4\n", { a: { b: [1, 2], c: 3 }, d: 4 }],
    ["a list's bracket for a map's", "a: { b: [1, 2 }\nd: 4\n", { a: { b: [1, 2] }, d: 4 }],
    ["an unclosed item of a list", "a:\n  - { b: 1\n  - { b: 2 }\n", { a: [{ b: 1 }, { b: 2 }] }],
    ["an unclosed quote ends with its line", 'a: "b\nc: 1\n', { a: "b", c: 1 }],
    ["a word that will be a key", "a:\n  b: 1\n  wor\n  c: 2\n", { a: { b: 1, wor: null, c: 2 } }],
    ["a word that will be the first key", "a:\n  wor\n  c: 2\nd: 3\n", { a: { wor: null, c: 2 }, d: 3 }],
    ["a key too deep", "a:\n  b: 1\n    c: 2\nd: 3\n", { a: { b: 1, c: 2 }, d: 3 }],
    ["a key between two depths", "a:\n    b: 1\n  c: 2\n", { a: { b: 1, c: 2 } }],
    ["a key at its dash's depth", "a:\n  - b: 1\n  c: 2\n  - b: 3\n", { a: [{ b: 1, c: 2 }, { b: 3 }] }],
    ["a line of nonsense", "a:\n  b: 1\n%%& }{ ::\n  c: 2\nd: 3\n", { a: { b: 1, c: 2 }, d: 3 }],
    [
      "nonsense between the lines of a list in brackets",
      'a: [\n    { b: 1 },\n%% }{ :: "\n    { b: 2,\n    @@@ ]\n      c: 3 }\n  ]\nd: 4\n',
      { a: [{ b: 1 }, { b: 2, c: 3 }], d: 4 },
    ],
    [
      "nonsense in a map in brackets",
      "a: {\n  b: { c: 1 },\n@@@\n  d: 2\n}\ne: 3\n",
      { a: { b: { c: 1 }, d: 2 }, e: 3 },
    ],
    ["too many brackets", "a: { b: 1 }}}]\nc: 2\n", { a: { b: 1 }, c: 2 }],
    ["tabs", "a:\n\tb: 1\n\tc: 2\n", { a: { b: 1, c: 2 } }],
    ["a list without a key", "a: 1\n- b\nc: 2\n", { a: 1, c: 2 }],
  ];
  for (const [name, text, wanted] of broken) it(`bears ${name}`, () => assert.deepEqual(read(text), wanted));

  it("ends on anything", () => {
    for (const text of [
      "",
      ":",
      "- - -",
      "\u0000[",
      "{}}",
      "? [a]\n: b",
      "[".repeat(5_000),
      "a: &a [*a]",
      "- ".repeat(2_000),
    ])
      read(text);
  });
});
