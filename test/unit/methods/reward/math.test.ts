/** Final answers of mathematics: what is taken from a response, and when two are the same. */
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { test } from "node:test";
import type { z } from "zod";
import { UserError } from "../../../../shared/lib/errors.ts";
import { finalAnswer } from "../../../../server/lib/maths/answer.ts";
import { sameAnswer } from "../../../../server/lib/maths/equality.ts";
import { math } from "../../../../server/methods/reward/maths/math.ts";
import { pairsOf } from "../../../../bench/maths/pairs.ts";
import { mathsThread } from "../../../support/mathsThread.ts";
import { pythonWith, rewardPackages } from "../../../support/pythonPackages.ts";
import { scoring } from "../../../support/pythonReward.ts";
import { thorough } from "../../../support/thorough.ts";
import { batchOf, made, temporary } from "../../support.ts";

await mathsThread();

async function values(
  answer: string | undefined,
  responses: readonly string[],
  params: z.input<typeof math.params> = { by: "compute_engine" },
): Promise<readonly (number | string)[]> {
  const term = made(math, params, { folder: temporary() });
  const batch = batchOf(
    responses.map((response, index) => ({
      step: 0,
      group: "g",
      index,
      prompt: "p",
      response,
      tokens: [1],
      task: { env: "maths", id: "t", data: {}, ...(answer !== undefined && { answer }) },
    })),
  );
  try {
    return (await term.score(batch, scoring())).map((one) =>
      one.kind === "value" ? one.value : one.kind === "error" ? one.message : one.kind,
    );
  } finally {
    await term.close?.();
  }
}

test("the last box, what is said to be the answer, the last formula, the last number", () => {
  const cases: readonly (readonly [string, string | undefined])[] = [
    ["\\boxed{1} or rather \\boxed{\\frac{1}{2}}", "\\frac{1}{2}"],
    ["\\boxed{\\{1, 2\\}} and \\boxed{cut off", "\\{1, 2\\}"],
    ["<think>\\boxed{3}</think> The answer is $4$.", "4"],
    ["So 7 * 6 = 42\n#### 42", "42"],
    ["The final answer is: **12**.", "12"],
    ["We get $x=3$, hence $y=9$", "y=9"],
    ["There are 1,200 of 3 kinds: 1,200", "1,200"],
    ["I do not know", undefined],
  ];
  for (const [text, answer] of cases) assert.equal(finalAnswer(text), answer, text);
});

test("answers that are the same in another form, and those that are not", () => {
  const same: readonly (readonly [string, string])[] = [
    ["\\frac{1}{2}", "0.5"],
    ["\\frac12", "-\\dfrac{-1}{2}"],
    ["1\\frac{1}{2}", "\\frac32"],
    ["x^2+2x+1", "(x+1)^2"],
    ["\\sin^2 x+\\cos^2 x", "1"],
    ["\\{1,2\\}", "\\left\\{2,1\\right\\}"],
    ["10 \\text{ and } 12", "12, 10"],
    ["\\pm 2", "\\{2,-2\\}"],
    ["[1,2)", "\\left[1,2\\right)"],
    ["(-\\infty,3]\\cup[5,\\infty)", "[5,\\infty)\\cup(-\\infty,3]"],
    ["5", "x = 5"],
    ["y=2x+1", "2x-y+1=0"],
    ["x>3", "3<x"],
    ["50\\%", "0.5"],
    ["50\\%", "50"],
    ["1000", "1,000"],
    ["1000000", "1,\\!000,\\!000"],
    ["5", "5 \\text{ cm}^2"],
    ["90", "90^\\circ"],
    ["\\sqrt{8}", "2\\sqrt{2}"],
    ["\\frac{\\pi}{4}", "0.785398"],
    ["2^{100}", "1267650600228229401496703205376"],
    ["3+4i", "4i+3"],
    ["\\begin{pmatrix}1&2\\\\3&4\\end{pmatrix}", "\\begin{bmatrix}1&2\\\\3&\\frac{8}{2}\\end{bmatrix}"],
    ["\\text{Monday}", "monday"],
    ["\\begin{pmatrix} 3 \\\\ -1 \\end{pmatrix}", "\\begin{pmatrix}3\\\\-1\\end{pmatrix}"],
    ["\\begin{pmatrix}3\\\\[2pt]-1\\end{pmatrix}", "\\left(\\begin{array}{c} 3 \\\\ -1 \\end{array}\\right)"],
    ["(x,y)=(1,2)", "(1,2)"],
    ["5/4", "1 1/4"],
    ["72", "72 clips"],
    ["12", "12 cm"],
    ["100200", "100,200"],
    ["100,200", "100, 200"],
  ];
  for (const [a, b] of same) assert.ok(sameAnswer(a, b), `${a} is ${b}`);
  const different: readonly (readonly [string, string])[] = [
    ["[1,2)", "[1,2]"],
    ["(1,2)", "(2,1)"],
    ["x\\le 3", "x<3"],
    ["\\frac13", "0.33"],
    ["2^{100}", "1267650600228229401496703205377"],
    ["\\infty", "-\\infty"],
    ["\\{1,2\\}", "\\{1,2,3\\}"],
    ["y=2x+1", "y=2x-1"],
    ["5", "-5"],
    ["\\text{even}", "\\text{odd}"],
    ["1", ""],
    ["\\begin{pmatrix} 3 \\\\ -1 \\end{pmatrix}", "\\begin{pmatrix} 4 \\\\ -2 \\end{pmatrix}"],
    ["\\begin{pmatrix} 3 \\\\ -1 \\end{pmatrix}", "2"],
    ["3k", "3"],
    ["12", "12n"],
    ["2ab", "2"],
    ["2 abcd", "2"],
    ["\\frac{1}{2}a", "\\frac{1}{2}"],
    ["100,200", "100200"],
  ];
  for (const [a, b] of different) assert.ok(!sameAnswer(a, b), `${a} is not ${b}`);
});

test("no wrong answer of made pairs earns, however it is spaced and ordered, and few right ones do not", () => {
  const pairs = pairsOf(thorough ? 4000 : 600, 3);
  const wrong = pairs.filter(({ gold, answer, same }) => sameAnswer(gold, answer) !== same);
  assert.deepEqual(
    wrong.filter(({ same }) => !same),
    [],
  );
  assert.ok(wrong.length <= pairs.length / 100, JSON.stringify(wrong));
});

test("the term: right, wrong, no answer, and what cannot be judged", async () => {
  const answers = ["So \\boxed{0.5}", "\\boxed{0.6}", "I give up", "The answer is 1/2."];
  assert.deepEqual(await values("\\frac{1}{2}", answers), [1, 0, 0, 1]);
  assert.deepEqual(await values("We find that $x$ is \\boxed{\\frac12}.", answers), [1, 0, 0, 1]);
  assert.match(String((await values(undefined, ["\\boxed{1}"]))[0]), /math needs an answer/);
});

test("an answer that takes the engine too long is an error of its rollout alone", async () => {
  const tower = "\\boxed{((9^{9})^{9})!}";
  const [hangs, next] = await values("7", [tower, "\\boxed{7}"], { by: "compute_engine", timeout: 0.4 });
  assert.ok(hangs === 0 || /cannot be compared/.test(String(hangs)), String(hangs));
  assert.equal(next, 1);
});

test("math_verify without the package says how to get it", async () => {
  const term = made(math, { by: "math_verify", python: "python3" }, { folder: temporary() });
  const has = spawnSync("python3", ["-c", "import math_verify"]).status === 0;
  if (has) return;
  await assert.rejects(
    async () => term.prepare?.(),
    (error) =>
      error instanceof UserError && /needs a Python with the package math-verify/.test(error.message),
  );
});

const found = pythonWith("math_verify", rewardPackages, thorough);
const python = found.kind === "python" ? found.path : "python3";
test(
  "math-verify itself, in a Python that has it",
  { skip: found.kind === "none" && found.why },
  async () => {
    const answers = ["So \\boxed{0.5}", "\\boxed{0.6}", "I give up", "The answer is $1/2$."];
    assert.deepEqual(await values("\\frac{1}{2}", answers, { by: "math_verify", python }), [1, 0, 0, 1]);
  },
);
