import assert from "node:assert/strict";
import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import fc from "fast-check";
import { parseDocument } from "yaml";
import { formatted, formatting } from "../../../server/language/format/index.ts";

const yamlFiles = (folder: string): string[] =>
  readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    return entry.isDirectory() ? yamlFiles(path) : /\.ya?ml$/.test(entry.name) ? [path] : [];
  });

const cases: readonly (readonly [what: string, before: string, after: string])[] = [
  ["indentation", "a:\n    b: 1\n    c:\n          d: 2\n", "a:\n  b: 1\n  c:\n    d: 2\n"],
  [
    "lists within their key",
    "tasks:\n- env: x\n  n: 1\n-   env: y\n    n: 2\n",
    "tasks:\n  - env: x\n    n: 1\n  - env: y\n    n: 2\n",
  ],
  ["spaces", "a:   { b : 1,c: [ 1,2 ,3 ] , d: { } }\ne: [ ]\n", "a: { b: 1, c: [1, 2, 3], d: {} }\ne: []\n"],
  [
    "brackets over lines",
    "a: {\n      b: 1,\n   c: [\n 1,\n  2 ]\n}\n",
    "a: {\n  b: 1,\n  c: [\n    1,\n    2]\n}\n",
  ],
  ["blank lines", "\n\na: 1\n\n\n\nb: 2\n\n\n", "a: 1\n\nb: 2\n"],
  ["spaces at the end", "a: 1   \nb:  \n  c: 2 \t\n# d  \n", "a: 1\nb:\n  c: 2\n# d\n"],
  ["aligned comments", "a: 1    # one\nbb: 22  # two\n", "a: 1    # one\nbb: 22  # two\n"],
  [
    "comments of a block",
    "a:\n    # of b\n    b: 1\n    # end of a\nc: 2\n",
    "a:\n  # of b\n  b: 1\n  # end of a\nc: 2\n",
  ],
  ["comments in the first column", "a:\n    b: 1\n# c: 2\n    d: 3\n", "a:\n  b: 1\n# c: 2\n  d: 3\n"],
  [
    "texts of several lines",
    "a:\n      b: |\n          one\n            two\n\n          three\n      c: >-\n            x\n            y\n",
    "a:\n  b: |\n    one\n      two\n\n    three\n  c: >-\n    x\n    y\n",
  ],
  ["kept line breaks", "a:\n    b: |+\n        x\n\n\n    c: 1\n", "a:\n  b: |+\n    x\n\n\n  c: 1\n"],
  ["quoted texts of several lines", 'a:\n    b: "one\n          two"\n', 'a:\n  b: "one\n    two"\n'],
  [
    "anchors and aliases",
    "a:   &x {b: 1}\nc:   *x\nd: { *x : 1 }\n",
    "a: &x { b: 1 }\nc: *x\nd: { *x : 1 }\n",
  ],
  ["line ends", "a:\r\n    b: 1\r\n", "a:\r\n  b: 1\r\n"],
  ["a missing line end", "a: 1", "a: 1\n"],
  ["numbers as they are written", "lr:  1.0e-3\nn:  1_000\n", "lr: 1.0e-3\nn: 1_000\n"],
];

describe("formatting a config", () => {
  for (const [what, before, after] of cases)
    it(`lays out ${what}`, () => {
      assert.equal(formatted(before), after);
      assert.equal(formatted(after), after, "what is formatted stays");
    });

  it("leaves alone what it cannot read or does not know", () => {
    for (const text of ["a: [1,\n", "? a\n: b\n", "a:  |2\n    x\n", "--- a:  1\n", "a: 1\na:   2\n", ""])
      assert.equal(formatted(text), text);
  });

  it("changes no preset and no example", () => {
    for (const file of [...yamlFiles("presets"), ...yamlFiles("examples")])
      assert.equal(formatted(readFileSync(file, "utf8")), readFileSync(file, "utf8"), file);
  });

  it("formats the top-level blocks of a range and no others", () => {
    const text = "a:\n    b: 1\nc:\n    d:   2\n    e: 3\nf:  4\n";
    const edits = formatting("file:///x.gradus.yaml", text, {
      start: { line: 4, character: 2 },
      end: { line: 5, character: 0 },
    });
    assert.deepEqual(
      edits.map(({ range, newText }) => [range.start.line, range.start.character, newText]),
      [
        [2, 2, "\n  "],
        [3, 6, " "],
        [3, 10, "\n  "],
      ],
    );
  });

  it("says the same after any change of white space, and is a fixed point", () => {
    const sources = [...yamlFiles("examples"), ...yamlFiles("test/fixtures/config")].map((file) =>
      readFileSync(file, "utf8"),
    );
    let changed = 0;
    fc.assert(
      fc.property(
        fc.constantFrom(...sources),
        fc.integer({ min: 1, max: 5 }),
        fc.array(fc.nat()),
        (source, deeper, places) => {
          const text = shaken(source, deeper, places);
          const before = parseDocument(text, { logLevel: "error" });
          const result = formatted(text);
          if (before.errors.length > 0) return result === text;
          assert.deepEqual(parseDocument(result, { logLevel: "error" }).toJS(), before.toJS());
          assert.equal(formatted(result), result);
          if (result !== text) changed += 1;
          return true;
        },
      ),
      { numRuns: 300, seed: 7 },
    );
    assert.ok(changed > 200, `only ${changed} of 300 texts were formatted`);
  });
});

/** The same config, every level `deeper` columns further in, with spaces and lines put in at places. */
function shaken(source: string, deeper: number, places: readonly number[]): string {
  const lines = source.split("\n").map((line) => {
    const spaces = line.length - line.trimStart().length;
    return " ".repeat((spaces / 2) * deeper) + line.trimStart();
  });
  for (const place of places) {
    const at = place % lines.length;
    lines[at] = place % 3 === 0 ? `${lines[at] ?? ""}  ` : (lines[at] ?? "").replace(/([,:[{]) /, "$1   ");
    if (place % 5 === 0) lines.splice(at, 0, "", "");
  }
  return lines.join("\n");
}
