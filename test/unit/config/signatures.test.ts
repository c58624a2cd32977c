import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { describe, it } from "node:test";
import { pythonSignature } from "../../../server/config/check/signatures/python.ts";
import { scriptSignature } from "../../../server/config/check/signatures/script.ts";

describe("signatures of reward functions", () => {
  it("reads an example's", () => {
    const found = scriptSignature(readFileSync("examples/countdown/rewards/brevity.ts", "utf8"), "score");
    assert.equal(found?.head, "score({ response, task }: Input): number");
    assert.equal(found.returns, "number");
    assert.deepEqual(found.parameters, [
      { name: "response", type: "string" },
      { name: "task", type: "{ readonly data: { readonly numbers?: readonly number[] } }" },
    ]);
    assert.match(found.types[0] ?? "", /^interface Input \{\n {2}readonly response: string;/);
    assert.deepEqual(found.args, []);
    assert.equal(found.line, 9);
  });

  it("finds what is taken from args, with types, defaults and words", () => {
    const text = `
// function score(no) {}
/**
 * Pays for brevity.
 * @param limit Letters that are free.
 */
export const score = async ({ response, args: { limit = 10, unit } }: {
  response: string; // text: "}"
  args: { limit?: number; /** Which unit. */ unit: "letters" | "words" };
}): Promise<number | null> => (response.length > limit ? 0 : 1);
`;
    const found = scriptSignature(text, "score");
    assert.deepEqual(found?.args, [
      { name: "limit", type: "number", usual: "10", says: "Letters that are free." },
      { name: "unit", type: '"letters" | "words"' },
    ]);
    assert.equal(found.doc, "Pays for brevity.");
    assert.equal(found.returns, "Promise<number | null>");
  });

  it("finds which names a pattern takes, with and without a value of their own", () => {
    const text = `export function score({ response, task: { id }, args: { low = 0, high }, ...others }: Input) {}`;
    assert.deepEqual(scriptSignature(text, "score")?.taken, {
      names: ["response", "task", "args"],
      optional: [],
      rest: true,
      args: { names: ["low", "high"], optional: ["low"], rest: false },
    });
    assert.equal(scriptSignature("export const score = (input) => input.length;", "score")?.taken, undefined);
  });

  it("reads what the body takes from args where nothing else says it", () => {
    const text =
      "export default function (input) { return input.args.low < input.args.high ? 1 : input.response.args.no; }";
    assert.deepEqual(
      scriptSignature(text, "default")?.args.map(({ name }) => name),
      ["low", "high"],
    );
    const other = "function inner({ args }: any) { return args?.low ?? 0 }\nexport { inner as score };";
    const found = scriptSignature(other, "score");
    assert.deepEqual(found?.args, [{ name: "low" }]);
    assert.equal(found.head, "score({ args }: any)");
  });

  it("reads Python, its docstring and its keywords", () => {
    const text = `
"""def compute_score(no): ..."""
async def compute_score(
    data_source: str, solution_str, ground_truth=None,  # a comment, with a comma
    *, limit: int = 10, words: dict[str, int] = {"a": 1}, **kwargs
) -> float:
    """Pays for brevity.

        indented
    and not
    """
    return 0.0
`;
    const found = pythonSignature(text, "compute_score");
    assert.deepEqual(found?.args, [
      { name: "limit", type: "int", usual: "10" },
      { name: "words", type: "dict[str, int]", usual: '{"a": 1}' },
    ]);
    assert.equal(found.doc, "Pays for brevity.\n\n    indented\nand not");
    assert.equal(found.returns, "float");
    assert.deepEqual(
      found.parameters.map(({ name }) => name),
      ["data_source", "solution_str", "ground_truth", "limit", "words", "**kwargs"],
    );
  });

  it("finds nothing in anything else, and ends", () => {
    for (const text of [
      "",
      "export const score = 3",
      "function score(",
      "export { score } from 'x'",
      "def compute_score(",
      "(".repeat(5_000),
      "export default score",
    ]) {
      assert.equal(scriptSignature(text, "score"), undefined);
      assert.equal(pythonSignature(text, "compute_score"), undefined);
    }
  });
});
