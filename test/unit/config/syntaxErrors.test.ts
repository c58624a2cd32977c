/** What is said of a text that the parser refuses: at its root, in words of ours, once. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { parseSource } from "../../../server/config/text/source.ts";
import { applyEdits } from "../../../server/config/text/textEdits.ts";

const origin = { file: "x.gradus.yaml", folder: "", via: [], layer: "file" } as const;

/** `text at the range: message`. */
const told = (text: string): string[] => {
  const lines = text.split("\n");
  return parseSource("x.gradus.yaml", text, origin).diagnostics.map(({ message, range: { start, end } }) => {
    assert.equal(start.line, end.line, "stays on its line");
    return `${(lines[start.line] ?? "").slice(start.character, end.character)}: ${message}`;
  });
};

const many = /This reads as one key over several lines/;

describe("syntax errors", () => {
  it("mark the key that lacks a colon, not what it swallowed", () => {
    const [found, ...others] = told("name: a\nrollout\n  group: 8\n  prompts: 4\nsteps: 3\n");
    assert.deepEqual(others, []);
    assert.match(found ?? "", many);
    assert.match(found ?? "", /^rollout:/);
    assert.deepEqual(told("rollout:\n  group: 8\n  temp\n"), ["temp: A colon is missing after this key."]);
  });

  it("do not repeat themselves for every line after the root", () => {
    assert.deepEqual(told('a:\n  rows: "0-05"]\n  kind: method\n  status: exact\nsteps: 3\n'), [
      "]: This closes nothing: no bracket of its kind is open here.",
    ]);
    assert.equal(told("steps: [1] 2\nname: a\nseed: 1\n").length, 1);
  });

  it("still report two roots", () => assert.equal(told("steps: 1\nsteps: 2\nname: @a\n").length, 2));

  it("report a colon without a space, and fix each of them", () => {
    const spaced = (text: string): string => {
      const { diagnostics } = parseSource("x.gradus.yaml", text, origin);
      for (const { message } of diagnostics) assert.match(message, /A space is missing after the colon/);
      return applyEdits(
        text,
        diagnostics.flatMap(({ fixes }) => fixes.flatMap(({ edits }) => [...edits])),
      );
    };
    assert.equal(spaced("a: { b:1, c: [{ d:e:f }] }\n"), "a: { b: 1, c: [{ d: e:f }] }\n");
    assert.equal(spaced("a:\n  - b:1\n    c:2  \n    d: 3\n"), "a:\n  - b: 1\n    c: 2  \n    d: 3\n");
    assert.deepEqual(told("a: { use:prompt }\n"), [
      "use:prompt: A space is missing after the colon: write `use: prompt`.",
    ]);
  });

  it("take a word with a colon for what it is where no key can be, in quotes, and in an address", () => {
    assert.deepEqual(
      told('a: [http://here:80, b:1]\n"c:d": 1\ne: { "f:g": 1, "h":2, j:k: 3 }\nl: m:n\n'),
      [],
    );
    assert.match(told("http://here\na: 1\n")[0] ?? "", many);
  });

  it("leave alone what no space after the colon would make a value", () =>
    assert.deepEqual(told("a: { b:`c }\n"), []));

  it("say what is missing within brackets", () => {
    assert.match(told("a: { b: 1, c: d: 2 }\n")[0] ?? "", /a comma is missing before it/);
    assert.match(told("a: { b: 1, @c: 2 }\n")[0] ?? "", /cannot begin with this character/);
  });

  it("speak no parser's language", () => {
    const broken = ["a: - b\n", "- a\nb: 1\n", "a: 1\n b: 2\n", "a: [1]\n: ]\n", "a: 'x' y\n", "*\na: 1\n"];
    for (const text of broken)
      for (const line of told(text)) assert.doesNotMatch(line, /Unexpected|Implicit|node end|token/, text);
  });
});
