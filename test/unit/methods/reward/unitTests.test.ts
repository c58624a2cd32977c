import assert from "node:assert/strict";
import { after, test } from "node:test";
import type { z } from "zod";
import type { Json, JsonObject } from "../../../../shared/lib/json.ts";
import type { RewardContext } from "../../../../server/core/reward.ts";
import type { TermValue } from "../../../../server/core/slots/reward.ts";
import { samePrinted, sameReturned } from "../../../../server/methods/reward/code/compare.ts";
import { programOf } from "../../../../server/methods/reward/code/program.ts";
import { unitTests } from "../../../../server/methods/reward/code/unitTests.ts";
import { openSandbox } from "../../../../server/lib/sandbox/openSandbox.ts";
import { sandboxProcess } from "../../../support/sandboxProcess.ts";
import { batchOf, made } from "../../support.ts";

await sandboxProcess();
// Terms close theirs; the threads stay until the last one has closed.
const kept = [openSandbox(), openSandbox("auto", "judges")];
after(() => Promise.all(kept.map((one) => one.close())));

const context: RewardContext = {
  clock: { step: 0, stageStep: 0 },
  models: { names: [], get: () => assert.fail(), perceptron: () => assert.fail() },
  tokenizer: { size: 0, eos: 0, pad: 0, encode: () => assert.fail(), decode: () => assert.fail() },
};
const python = (code: string): string => `I think:\n\`\`\`python\n${code}\n\`\`\`\nDone.`;
const javascript = (code: string): string => `\`\`\`js\n${code}\n\`\`\``;

async function judged(
  data: JsonObject,
  responses: readonly string[],
  params: z.input<typeof unitTests.params> = {},
): Promise<readonly TermValue[]> {
  const term = made(unitTests, params);
  const batch = batchOf(
    responses.map((response, index) => ({
      step: 0,
      group: "g",
      index,
      prompt: "p",
      response,
      tokens: [1],
      task: { env: "code", id: "t", data },
    })),
  );
  try {
    return await term.score(batch, context);
  } finally {
    await term.close?.();
  }
}
const values = async (...args: Parameters<typeof judged>): Promise<readonly (number | string)[]> =>
  (await judged(...args)).map((one) =>
    one.kind === "value" ? one.value : one.kind === "error" ? one.message : one.kind,
  );

/** What a span of the response reads. */
const textsOf = (one: TermValue | undefined, name: string, response: string): readonly string[] =>
  one === undefined || one.kind === "error"
    ? []
    : (one.spans?.[name] ?? []).map(([from, to]) => response.slice(from, to));

const sums: JsonObject = { tests: { inputs: ["1 2\n", "3 4\n"], outputs: ["3\n", "7\n"] } };
const adds = python("a, b = map(int, input().split())\nprint(a + b)");

test("what a program prints for an input", async () => {
  const wrongOnce = python("a, b = map(int, input().split())\nprint(a + b if a == 1 else 0)");
  const answers = [adds, wrongOnce, python("print("), "no program here"];
  assert.deepEqual(await values(sums, answers), [1, 0, 0, 0]);
  assert.deepEqual(await values(sums, answers, { value: "fraction" }), [1, 0.5, 0, 0]);
  const ends = [...answers, python("1 / 0"), python("while True: pass")];
  assert.deepEqual(await values(sums, ends, { value: "ladder", seconds: 2 }), [1, -0.3, -1, -1, -0.6, -0.6]);
  assert.deepEqual(await values(sums, [adds, wrongOnce], { value: "adaptive" }), [1, -0.3 + 1.3 * 0.5]);
});

test("APPS, TACO and LiveCodeBench: texts of JSON, lines as lists, calls, a class Solution", async () => {
  const apps = { tests: JSON.stringify({ inputs: [["1 2"]], outputs: [["3"]] }) };
  assert.deepEqual(await values(apps, [adds]), [1]);
  const calls = {
    tests: {
      fn_name: "add",
      inputs: [
        [1, 2],
        [3, 4],
      ],
      outputs: [[3], 7],
    },
  };
  const solution = python("class Solution:\n    def add(self, a, b):\n        return a + b");
  const plain = python("def add(a, b):\n    return a + b");
  assert.deepEqual(await values(calls, [solution, plain, python("def sub(a, b): return a - b")]), [1, 1, 0]);
  const live = {
    func_name: "add",
    tests: [
      { input: "1\n2", output: "3", testtype: "functional" },
      { input: "[1]\n[2]", output: "[1, 2]", testtype: "functional" },
    ],
  };
  assert.deepEqual(await values(live, [plain]), [1]);
  assert.deepEqual(await values({ tests: [{ input: "1 2", output: "3", testtype: "stdin" }] }, [adds]), [1]);
  const js = javascript("const add = (a, b) => a + b;\nmodule.exports = { add };");
  assert.deepEqual(await values(calls, [js]), [1]);
});

test("MBPP and HumanEval: assert lines, their imports, a function check", async () => {
  const mbpp = {
    tests: ["assert math.isclose(area(1), math.pi)", "assert area(0) == 0"],
    test_imports: ["import math"],
  };
  const area = python("def area(r):\n    return math.pi * r * r");
  assert.deepEqual(
    await values(mbpp, [area, python("def area(r): return 0")], { value: "fraction" }),
    [1, 0.5],
  );
  const human = {
    entry_point: "area",
    tests: "def check(candidate):\n    assert candidate(2) == 4\n    assert candidate(3) == 9",
  };
  assert.deepEqual(
    await values(human, [python("def area(r): return r * r"), python("def area(r): return 4")]),
    [1, 0],
  );
  const js = { tests: ["assert.deepEqual(twice([1]), [2])", "console.assert(twice([]).length === 0)"] };
  const twice = javascript("function twice(list) { return list.map((x) => 2 * x) }");
  assert.deepEqual(
    await values(js, [twice, javascript("const twice = () => [3]")], { value: "fraction" }),
    [1, 0],
  );
});

test("leaving early, printing what a test might print and an object that equals everything earn nothing", async () => {
  const asserted = { tests: ["assert f(1) == 2"] };
  const returned = { tests: { fn_name: "f", inputs: [[1]], outputs: [2] } };
  const tricks = [
    "import sys\nsys.exit(0)",
    "import os\nos._exit(0)",
    "print('passed')\nraise SystemExit",
    "import atexit\ndef f(x): return 3",
  ].map(python);
  assert.deepEqual(await values(asserted, tricks), [0, 0, 0, 0]);
  assert.deepEqual(await values(returned, tricks), [0, 0, 0, 0]);
  const equal = python("class A:\n    def __eq__(self, other): return True\ndef f(x): return A()");
  assert.deepEqual(await values(returned, [equal]), [0]);
});

test("each test is recorded with its reason", async () => {
  const [one] = await judged(sums, [python("print(3)")], { value: "fraction" });
  assert.deepEqual(one?.criteria, [
    { name: "test 1", text: 'reads "1 2\\n"', points: 1, met: 1 },
    { name: "test 2", text: 'reads "3 4\\n": printed 3, expected 7', points: 1, met: 0 },
  ]);
  assert.deepEqual(one?.components, { passed: 1, tests: 2 });
  const [file] = await judged(sums, [python("open('/etc/passwd')")]);
  assert.match(file?.criteria?.[0]?.text ?? "", /asked for the file \/etc\/passwd/);
  assert.equal(file?.criteria?.[1]?.met, null);
});

test("the lines that ran and the line of the error are spans of the response", async () => {
  const code =
    "a, b = map(int, input().split())\nif a > 100:\n    print(0)\n# the rest\nelse:\n    print(a + b)";
  const response = python(code);
  const [one] = await judged(sums, [response], { lines: true });
  assert.deepEqual(textsOf(one, "executed", response).join(""), `${code.replace("    print(0)\n", "")}\n`);
  const broken = python("a = 1\nb = a / 0\n");
  const [two] = await judged({ ...sums, test_imports: "import math\nimport re" }, [broken], { lines: true });
  assert.deepEqual(textsOf(two, "error", broken), ["b = a / 0\n"]);
});

test("an abort ends the programs and is no error of theirs", async () => {
  const term = made(unitTests, { seconds: 60 });
  const task = { env: "code", id: "t", data: sums };
  const response = python("while True: pass");
  const batch = batchOf([{ step: 0, group: "g", index: 0, prompt: "p", response, tokens: [1], task }]);
  await assert.rejects(term.score(batch, { ...context, signal: AbortSignal.timeout(300) }), /timeout|abort/i);
  await term.close?.();
});

test("a task without tests is an error, not a 0", async () => {
  assert.match(String((await values({}, [adds]))[0]), /`tests` is not there: set `field`/);
  assert.match(String((await values({ tests: 3 }, [adds]))[0]), /neither \{ inputs, outputs \}/);
});

test("the last block that is not empty, in a language that is wanted", () => {
  const two = "```python\nfirst\n```\n```python\nsecond\n```\n```\n```";
  assert.equal(programOf(two, "last_block", "auto")?.code, "second\n");
  assert.equal(programOf("```python\ncut off", "last_block", "auto")?.code, "cut off");
  assert.equal(programOf("x = 1", "last_block", "python")?.code, "x = 1");
  assert.equal(programOf("```rust\nfn\n```", "last_block", "auto"), undefined);
  assert.equal(programOf("```js\n1\n```", "last_block", "python"), undefined);
  const { start, code } = programOf(two, "last_block", "auto")!;
  assert.equal(two.slice(start, start + code.length), "second\n");
});

test("outputs compare as verl's prime_code does, in order", () => {
  const printed: readonly (readonly [string, string, boolean])[] = [
    ["3", "3\n", true],
    ["1 2 \n\n3", "1 2\n3", true],
    ["0.3333333", "0.33333334", true],
    ["1.0", "1", true],
    ["1000000", "1000001", false],
    ["2 1", "1 2", false],
    ["1\n2", "1 2", false],
    ["yes", "YES", false],
    ["nan", "nan", true],
    ["inf", "1", false],
    ["-0", "0", true],
    ["1e3", "1000", true],
    ["0.1 0.2", "0.1000001 0.2", true],
    ["", "0", false],
    ["12345678901234567891", "12345678901234567890", false],
  ];
  for (const [a, b, same] of printed) assert.equal(samePrinted(a, b), same, `${a} | ${b}`);
  const returned: readonly (readonly [Json, Json, boolean])[] = [
    [[1, 2], [1, 2], true],
    [3, [3], true],
    [[3], 3, false],
    [0.1 + 0.2, 0.3, true],
    [true, 1, false],
    [{ a: [1] }, { a: [1] }, true],
    [null, null, true],
  ];
  for (const [a, b, same] of returned) assert.equal(sameReturned(a, b), same, JSON.stringify([a, b]));
});
