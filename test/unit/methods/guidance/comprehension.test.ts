/** What AMPO asks the policy about a teacher's answer, and what it makes of it. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { comprehension, type Where } from "../../../../server/methods/guidance/source/comprehension.ts";
import type { Likelihood, HelpContext } from "../../../../server/core/slots/guidance.ts";
import type { Tokenizer } from "../../../../server/core/policy.ts";
import { task } from "../../../support/batch.ts";
import { FakeModels } from "../../../support/fakePolicy.ts";

/** Two letters a token where they are alike, one a token otherwise: tokens that may reach over an edge. */
const tokenizer: Tokenizer = {
  size: 70_000,
  eos: 0,
  pad: 1,
  encode: (text) =>
    Int32Array.from(text.match(/(.)\1|[^]/gsu) ?? [], (piece) =>
      piece.length === 2 ? 1000 + piece.charCodeAt(0) : piece.charCodeAt(0),
    ),
  decode: (tokens) =>
    Array.from(tokens, (token) =>
      token >= 1000 ? String.fromCharCode(token - 1000).repeat(2) : String.fromCharCode(token),
    ).join(""),
};
const asked: { before: string; tokens: string }[] = [];
const context: HelpContext = {
  models: new FakeModels(),
  tokenizer,
  clock: { step: 0, stageStep: 0 },
  max_tokens: 10,
  plain: 0,
  write: () => Promise.reject(new Error("it writes nothing")),
  likelihood: (rows: readonly Likelihood[], of) => {
    assert.equal(of, "probability");
    for (const { before, tokens } of rows)
      asked.push({ before: tokenizer.decode(before), tokens: tokenizer.decode(tokens) });
    return Promise.resolve(Float64Array.from(rows, (_, i) => 0.5 + i / 10));
  },
};
const between: Where = { answer_at: "tags", tags: ["<answer>", "</answer>"] };
const taught = (text: string, answer = "12"): Parameters<typeof comprehension>[0][number] => ({
  task: { ...task("t"), answer },
  tokens: Int32Array.from([...tokenizer.encode(text), tokenizer.eos]),
});
async function scored(where: Where, ...texts: readonly string[]): Promise<number[]> {
  asked.length = 0;
  return comprehension(
    texts.map((text) => taught(text)),
    where,
    context,
  );
}

test("behind: the reference answer follows all that the teacher wrote", async () => {
  assert.deepEqual(await scored({ ...between, answer_at: "behind" }, "so <answer>7</answer>"), [0.5]);
  assert.deepEqual(asked, [{ before: "so <answer>7</answer>", tokens: "12" }]);
});

test("tags: it is where the teacher answered, after the same blanks, and the form counts a tenth", async () => {
  const scores = await scored(
    between,
    "so <answer>\n7</answer>",
    "so <answer>7",
    "none",
    "nothing <answer>",
    "<answer>1</answer><answer>2</answer>",
  );
  assert.deepEqual(asked, [
    { before: "so <answer>\n", tokens: "12" },
    { before: "so <answer> ", tokens: "12" },
  ]);
  const near = (value: number, wanted: number): void =>
    assert.ok(Math.abs(value - wanted) < 1e-12, `${value}`);
  near(scores[0]!, 0.9 * 0.5 + 0.1);
  near(scores[1]!, 0.9 * 0.6);
  assert.deepEqual(scores.slice(2), [0, 0, 0], "no tag; no answer behind it; two answers");
});

test("a token that reaches into the answer is the answer's", async () => {
  asked.length = 0;
  await comprehension([taught("<answer> 7</answer>", " 12")], between, context);
  assert.deepEqual(asked, [{ before: "<answer>", tokens: "  12" }]);
});
