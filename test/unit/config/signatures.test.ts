import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { describe, it } from "node:test";
import { signatureText } from "../../../server/config/check/signatures/index.ts";
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

  it("reads a method of a Python class, without what it is called on", () => {
    const text = `def correct(no): ...
class Other(Base):
    def correct(self, wrong): ...
class Sums(
    Base,
):
    # "class Other"
    level = 1

    @reward(weight=2.0)
    async def correct(self, trace, limit: int = 3) -> float:
        """Right or not."""
        return 1.0

def short(self): ...
`;
    const found = pythonSignature(text, "Sums.correct");
    assert.equal(found?.head, "Sums.correct(self, trace, limit: int = 3) -> float");
    assert.deepEqual([found.line, found.doc], [10, "Right or not."]);
    assert.deepEqual(found.args, [{ name: "limit", type: "int", usual: "3" }]);
    assert.equal(found.recognised?.kind === "convention" && found.recognised.convention.name, "verifiers");
    for (const name of ["Sums.short", "Sums.level", "None.correct"])
      assert.equal(pythonSignature(text, name), undefined);
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

  it("recognises by whose names a Python function is called", () => {
    const conventions = {
      "response, task": "gradus",
      "prompt, response, *, limit=3": "gradus",
      length: "gradus",
      "data_source, solution_str, ground_truth, extra_info=None, **kwargs": "verl",
      "solution_str, ground_truth, method='strict', format_score=0.0, score=1.0": "verl",
      "predict_str: str, ground_truth: str, use_boxed: bool = True": "verl",
      "model_output: str, ground_truth: str, timeout_score: float = 0": "verl",
      "completion, test_cases, continuous=False": "verl",
      "data_sources, solution_strs, ground_truths, extra_infos": "verl_batch",
      "completions: list[list[dict[str, str]]], solution: list[str], log_extra=None, **kwargs": "trl",
      "completion_ids, **kwargs": "trl",
      "prompts, completions, answer, **kwargs": "trl",
      "queries, prompts, labels, **kwargs": "openrlhf",
      "answer, entry": "reasoning_gym",
      "prompt, completions, prompt_ids, completion_ids, answer, **kwargs": "unsupported",
      "args, sample, **kwargs": "unsupported",
      "task, episode": "unsupported",
      "task, trace, runtime": "verifiers",
      "completions, answers, **kwargs": "trl",
      "completions, answers, states": "rubric_group",
      "parser, completion, answer, **kwargs": "rubric",
      "state, info": "rubric",
      "x, y": "unknown",
      "": "unknown",
    };
    for (const [head, wanted] of Object.entries(conventions)) {
      const found = pythonSignature(`def f(${head}):\n    return 1\n`, "f")?.recognised;
      assert.equal(found?.kind === "convention" ? found.convention.name : found?.kind, wanted, head);
    }
    const signature = pythonSignature("def f(queries, prompts, labels):\n    return 1\n", "f");
    assert.ok(signature);
    assert.match(signatureText(signature).join("\n"), /^Called by the names of OpenRLHF: `reward_func/m);
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
