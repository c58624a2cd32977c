/** What is said of a text that the parser refuses: at its root, in words of ours, once. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { parseSource } from "../../../server/config/source.ts";

/** `text at the range: message`. */
const told = (text: string): string[] => {
  const lines = text.split("\n");
  return parseSource("x.gradus.yaml", text, {
    file: "x.gradus.yaml",
    folder: "",
    via: [],
    layer: "file",
  }).diagnostics.map(({ message, range: { start, end } }) => {
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
    assert.deepEqual(told("rollout:\n  group: 8\n  temp\n"), ["temp: A colon is missing behind this key."]);
  });

  it("do not repeat themselves for every line behind the root", () => {
    assert.deepEqual(told('a:\n  rows: "0-05"]\n  kind: method\n  status: exact\nsteps: 3\n'), [
      "]: This closes nothing: no bracket of its kind is open here.",
    ]);
    assert.equal(told("steps: [1] 2\nname: a\nseed: 1\n").length, 1);
  });

  it("still tell of two roots", () => assert.equal(told("steps: 1\nsteps: 2\nname: @a\n").length, 2));

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
