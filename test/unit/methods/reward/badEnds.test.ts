/** However a policy's program ends without an answer, it is wrong: a reward of 0, never an error, which would not train. */
import assert from "node:assert/strict";
import { after, test } from "node:test";
import { unitTests } from "../../../../server/methods/reward/code/unitTests.ts";
import { sandboxProcess } from "../../../support/sandboxProcess.ts";
import { some } from "../../../support/thorough.ts";
import { batchOf, made } from "../../support.ts";
import { noModels, plain, rowOf } from "./support.ts";

await sandboxProcess();
const term = made(unitTests, { seconds: 2, memory: 96 });
after(() => term.close?.());

async function rewardOf(language: "python" | "javascript", code: string, tests: string): Promise<unknown> {
  const row = rowOf(`\`\`\`${language}\n${code}\n\`\`\``, { task: { data: { tests: [tests] } } });
  const [one] = await term.score(batchOf([row]), noModels);
  return plain(one!);
}

/** What a program does; `solve` of it is the same where it is asked. */
const ends: Readonly<Record<"python" | "javascript", readonly string[]>> = {
  python: [
    "import sys; sys.exit(0)",
    "import sys; sys.exit(3)",
    "import os; os._exit(0)",
    "import os; os._exit(134)",
    "import os; os.abort()",
    "import os, signal; os.kill(os.getpid(), signal.SIGKILL)",
    "raise SystemExit",
    "raise KeyboardInterrupt",
    "raise GeneratorExit('x')",
    "while True: pass",
    "import time; time.sleep(1000)",
    "x = bytearray(1 << 30)",
    "x = []\n    while True: x.append('x' * 1000000)",
    "print('x' * (1 << 22))",
    "import os; os.write(1001, b'[\"no\" garbage'); os.read(1001, 4)",
    "import os; os.write(1001, b'[\"no\"]'); os.read(1001, 4)",
    'import os; os.write(1001, b\'["no", "Nothing", 1, 2, 3, 4, 5]\'); os.read(1001, 4)',
    'import os; os.write(1001, b\'["no", "ValueError", "x", ["h", 1, ["E", [7, ["h"]]]], null, ["t", []], ["h", 9, null]]\'); os.read(1001, 4)',
    'import os; os.write(1001, b\'["ok", ["l", ["\\xff"\'); os.read(1001, 4)',
    "import os; os.write(1001, b'{}'); os.read(1001, 4)",
    "import os; os.write(1001, b'null'); os.read(1001, 4)",
    "import os; os.write(1001, b'[' * 100000); os.read(1001, 4)",
    "import os; os.write(1001, b'x' * (5 << 20))",
    "import os; os.write(1000, b'{\"lines\": 5}'); os._exit(0)",
    "import os; os.write(1000, b'{}'); os._exit(0)",
    "x = []\n    for _ in range(100000): x = [x]\n    return x",
    "return 'x' * (5 << 20)",
    "return '\\ud800'",
    "x = []; x.append(x)\n    return x",
    "import itertools\n    return itertools.count()",
    "return [object()] * 3",
    "class E(Exception):\n        def __str__(self): raise self\n        args = property(lambda self: 1 // 0)\n    raise E",
    "import builtins\n    builtins.len = builtins.str = builtins.type = None",
    "import sys; sys.setrecursionlimit(10 ** 9)\n    def down(n): return down(n + 1) + 1\n    return down(0)",
    "import sys; sys.stdout = sys.__stdout__ = None; raise MemoryError",
  ],
  javascript: [
    "process.exit(0)",
    "process.exit(3)",
    "throw null",
    "throw undefined",
    "throw { get name() { throw 1 }, get message() { throw 2 } }",
    "throw new Proxy(new Error('x'), { get() { throw new Error('y') } })",
    "for (;;) ;",
    "const x = []; for (;;) x.push(new Array(100000).fill(1))",
    "return 'x'.repeat(1 << 24)",
    "return new Uint8Array(1 << 28)",
    "console.log('x'.repeat(1 << 22))",
    "const f = () => f() + 1; return f()",
    "let x = []; for (let k = 0; k < 100000; k++) x = [x]; return x",
    "const x = []; x.push(x); return x",
    "return { toJSON() { throw 1 }, get a() { throw 2 } }",
    "return new Proxy({}, { get() { throw 1 }, getPrototypeOf() { throw 2 }, ownKeys() { throw 3 } })",
    "return Symbol('x')",
    "return (function* () { for (;;) yield 1 })()",
    "JSON.stringify = JSON.parse = () => 'x'; Array.prototype.map = () => { throw 1 }",
    "Object.defineProperty(Error.prototype, 'name', { get() { throw 1 } }); throw new Error('x')",
    "const { parse } = JSON; JSON.parse = () => ['call']; return parse('{')",
    "/(a+)+$/.test('a'.repeat(50) + '!')",
  ],
};

const tests = {
  python: "assert list(solve(2)) == [41]",
  javascript: "assert.deepStrictEqual([...solve(2)], [41])",
};

for (const language of ["python", "javascript"] as const)
  test(`each bad end of ${language} is a reward of 0, as the program begins and as it is asked`, async () => {
    const isPython = language === "python";
    for (const code of some(ends[language], 6)) {
      const solve = isPython ? `def solve(n):\n    ${code}` : `function solve(n) { ${code} }`;
      const begun = `${solve}\nsolve(2)`;
      const rewards = await Promise.all(
        [solve, begun].map((one) => rewardOf(language, one, tests[language])),
      );
      assert.deepEqual(rewards, [0, 0], code);
    }
    assert.equal(
      await rewardOf(
        language,
        isPython ? "def solve(n): return [41]" : "const solve = () => [41]",
        tests[language],
      ),
      1,
      "a right program after them",
    );
  });
