/** What passes a test without solving it: none does. */
import assert from "node:assert/strict";
import { after, test } from "node:test";
import { openSandbox } from "../../../../server/lib/sandbox/openSandbox.ts";
import type { SandboxLanguage } from "../../../../server/lib/sandbox/sandbox.ts";
import { criterionText } from "../../../../shared/rollouts/criteria.ts";
import { markedText, ownProcessReason } from "../../../../server/methods/reward/code/ownProcess.ts";
import { runTest, type Tested } from "../../../../server/methods/reward/code/runTest.ts";
import { sandboxProcess } from "../../../support/sandboxProcess.ts";
import { attempts } from "../../sandbox/attempts/fakes.ts";

await sandboxProcess();
const sandboxes = { programs: openSandbox(), judges: openSandbox("auto", "judges") };
after(() => Promise.all([sandboxes.programs.close(), sandboxes.judges.close()]));

const limits = { seconds: 10, memory: 256, lines: false, before: "" };
const graded = (language: SandboxLanguage, code: string, tests: string, before = ""): Promise<Tested> =>
  runTest(sandboxes, { language, code, start: 0 }, { kind: "asserted", code: tests }, { ...limits, before });
const wanted = {
  python: ["assert solve(2) == 41", "assert solve(3) == 97"],
  javascript: ["assert.strictEqual(solve(2), 41)", "assert.deepEqual(solve(3), 97)"],
};

test("at least forty fakes, of which none passes, and none chooses to be graded by its own process", async () => {
  assert.ok(attempts.length >= 40);
  for (const { name, language, code } of attempts) {
    const done = await Promise.all(wanted[language].map((one) => graded(language, code, one)));
    for (const one of done) {
      assert.equal(one.within, undefined, name);
      assert.notEqual(one.reason, undefined, name);
      assert.equal(one.passed, false, name);
    }
  }
});

const sort = "def sort_in_place(a):\n    a.sort()\n    return a";
const stack =
  "class Stack:\n    def __init__(self): self.items = []\n    def push(self, x):\n        self.items.append(x)\n        return self\n    def __len__(self): return len(self.items)\n    def __iter__(self): return iter(self.items)\n    def __getitem__(self, k): return self.items[k]\nclass Empty(ValueError): pass\ndef pop(s):\n    if not s.items: raise Empty('it is empty')\n    return s.items.pop()\ndef fail(n): return 1 // n\ndef up(n):\n    for k in range(n): yield k";
const honest: readonly (readonly [SandboxLanguage, string, string, boolean])[] = [
  ["python", sort, "a = [3, 1, 2]\nb = sort_in_place(a)\nassert a == [1, 2, 3] and b is a", true],
  ["python", sort, "a = [3, 1]\nsort_in_place(a)\nassert a == [3, 1]", false],
  [
    "python",
    stack,
    "s = Stack()\ns.push(1).push(2)\nassert len(s) == 2 and list(s) == [1, 2] and s[0] == 1 and s.items == [1, 2]\nassert isinstance(s, Stack) and pop(s) == 2",
    true,
  ],
  [
    "python",
    stack,
    "try:\n    pop(Stack())\n    assert False\nexcept Empty as error:\n    assert str(error) == 'it is empty'",
    true,
  ],
  ["python", stack, "try:\n    fail(0)\n    assert False\nexcept ZeroDivisionError:\n    pass", true],
  ["python", stack, "assert list(up(3)) == [0, 1, 2] and sum(up(4)) == 6 and next(up(1)) == 0", true],
  [
    "python",
    stack,
    "import unittest\nclass T(unittest.TestCase):\n    def runTest(self):\n        with self.assertRaises(ValueError): pop(Stack())\n        self.assertEqual(fail(1), 1)\nassert unittest.TextTestRunner().run(T()).wasSuccessful()",
    true,
  ],
  [
    "python",
    "from collections import *\nfrom decimal import Decimal\nfrom fractions import Fraction\nimport datetime\ndef f():\n    return [None, True, 2**200, 1.5, 'é', b'x', 1j, (1,), {1}, frozenset([2]), {(1, 2): [3]}, Decimal('1.10'), Fraction(1, 3), datetime.date(2020, 1, 2), deque([1]), Counter('aab'), defaultdict(int, a=1), OrderedDict(a=1), float('inf'), range(3), datetime.timedelta(1)]",
    "from decimal import Decimal\nfrom fractions import Fraction\nimport datetime, collections\nassert f() == [None, True, 2**200, 1.5, 'é', b'x', 1j, (1,), {1}, frozenset([2]), {(1, 2): [3]}, Decimal('1.1'), Fraction(1, 3), datetime.date(2020, 1, 2), collections.deque([1]), {'a': 2, 'b': 1}, {'a': 1}, {'a': 1}, float('inf'), range(3), datetime.timedelta(1)]",
    true,
  ],
  ["python", "def sum(a, b): return a + b", "assert sum(10, 15) == 25", true],
  [
    "python",
    "import math\ndef abs(x): return 0\nclass math: isclose = lambda *a: True\ndef f(): return 3",
    "assert abs(f() - 4) < 1e-6",
    false,
  ],
  [
    "python",
    "class math: isclose = lambda *a: True\ndef f(): return 3",
    "assert math.isclose(f(), 4)",
    false,
  ],
  [
    "python",
    "def f(n, known=[]):\n    known.append(n)\n    return len(known)",
    "def check(candidate):\n    assert candidate(1) == 1\n    assert candidate(n=2) == 2\n\ncheck(f)",
    true,
  ],
  ["python", "def f(n): return f(n + 1)", "try:\n    f(0)\nexcept RecursionError:\n    pass", true],
  [
    "javascript",
    "const f = () => [undefined, NaN, 10n, new Map([[1, new Set([2])]]), new Date(5), , -0, { a: 1 }];",
    "assert.deepStrictEqual(f(), [undefined, NaN, 10n, new Map([[1, new Set([2])]]), new Date(5), , -0, { a: 1 }])",
    true,
  ],
  [
    "javascript",
    "class Stack { constructor() { this.items = [] } push(x) { this.items.push(x); return this } get size() { return this.items.length } *[Symbol.iterator]() { yield* this.items } }",
    "const s = new Stack(); s.push(1).push(2); assert.equal(s.size, 2); assert.deepEqual([...s], [1, 2]); assert(s instanceof Stack)",
    true,
  ],
  [
    "javascript",
    "const sort = (a) => a.sort(); function bad() { throw new TypeError('no') }",
    "const a = [3, 1]; assert.strictEqual(sort(a), a); assert.deepEqual(a, [1, 3]); assert.throws(() => bad(), TypeError); console.assert(a.length === 2)",
    true,
  ],
  [
    "javascript",
    "import assert2 from 'assert'; export const twice = (x) => 2 * x;",
    "assert.equal(twice(2), 4)",
    true,
  ],
  ["javascript", "let f = (x) => x + 1", "assert.equal(f(1), 3)", false],
];

test("honest programs keep their verdict, judged from outside", async () => {
  for (const [language, code, tests, passes] of honest) {
    const one = await graded(language, code, tests);
    assert.deepEqual([one.passed, one.within], [passes, undefined], `${code}\n${tests}\n${one.reason}`);
  }
});

test("a test that hands over its own function is graded by the program's own process, and says so", async () => {
  const apply = "def twice(call, x): return call(call(x))";
  const one = await graded("python", apply, "assert twice(lambda x: x + 1, 1) == 3");
  assert.deepEqual([one.passed, one.within], [true, "gives the program a function of its own"]);
  const js = await graded(
    "javascript",
    "const map = (list, f) => list.map(f)",
    "assert.deepEqual(map([1], (x) => x + 1), [2])",
  );
  assert.deepEqual([js.passed, js.within], [true, "gives the program a function of its own"]);
});

const apply = "def apply(f, x): return f(x)\nclass Box: pass\n";
const given: readonly (readonly [SandboxLanguage, string, string, string | undefined])[] = [
  ["python", apply, "assert apply(lambda x: x + 1, 1) == 2", "gives `apply` a function of its own"],
  [
    "python",
    apply,
    "def up(x): return x + 1\nassert apply(up, 1) == 2",
    "gives `apply` a function of its own",
  ],
  [
    "python",
    "def keys(o): return list(vars(o))",
    "class One:\n    def __init__(self): self.a = 1\nassert keys(One()) == ['a']",
    "gives `keys` a function of its own",
  ],
  [
    "python",
    "def shout(): print('A')",
    "import io, sys\nsys.stdout = io.StringIO()\nshout()\nassert sys.stdout.getvalue() == 'A\\n'",
    "looks inside the program's process (`sys.stdout`)",
  ],
  ["python", apply, "assert sorted([apply(int, '2'), 1], key=lambda x: -x) == [2, 1]", undefined],
  [
    "python",
    apply,
    "assert apply(str, 'await (lambda sys.stdout') == 'await (lambda sys.stdout' # mock",
    undefined,
  ],
  ["python", "def up(x): return x + 1\n" + apply, "assert apply(up, 1) == 2", undefined],
  [
    "javascript",
    "const apply = (f, x) => f(x)",
    "assert.equal(apply((x) => x + 1, 1), 2)",
    "gives `apply` a function of its own",
  ],
  ["javascript", "const up = (x) => x + 1", "assert.deepEqual([1].map((x) => up(x)), [2])", undefined],
];

test("what the text of a test shows is what its judge finds", async () => {
  for (const [language, code, tests, why] of given) {
    assert.equal(ownProcessReason(tests, language), why, tests);
    const one = await graded(language, code, tests);
    assert.deepEqual(
      [one.passed, one.within === undefined],
      [true, why === undefined],
      `${tests}\n${one.reason}`,
    );
  }
});

test("documents and the panel say of a test that the program's own process graded it", () => {
  const one = {
    name: "test 1",
    text: markedText("assert f(g)", "gives `f` a function of its own"),
    points: 1,
    met: 1,
  };
  assert.equal(criterionText(one), "✓ +1  test 1 (graded by the program's own process)");
  assert.equal(criterionText({ ...one, text: "assert f(1)" }), "✓ +1  test 1");
});

test("what a program returns is no reason to be graded by its own process", async () => {
  const fooled = "class Yes:\n    def __eq__(self, other): return True\ndef solve(n): return Yes()\n";
  const forged =
    "import os\ndef make():\n    os.write(1001, (b'[\"ok\", ' + b'[\"l\", [' * 300 + b']]' * 300 + b']'))\n    os.read(1001, 4)";
  for (const make of ["make = object", "class make(Exception): pass", forged]) {
    const one = await graded("python", `${fooled}${make}`, "assert solve(make()) == 41");
    assert.deepEqual([one.passed, one.within], [false, undefined], `${make}: ${one.reason}`);
  }
});

test("lines and the line of an error are the program's own", async () => {
  const code = "def f(n):\n    if n:\n        return 1 // 0\n    return 0";
  const program = { language: "python" as const, code, start: 0 };
  const asks = { kind: "asserted" as const, code: "assert f(1) == 1" };
  const one = await runTest(sandboxes, program, asks, { ...limits, before: "import math", lines: true });
  assert.deepEqual([one.lines, one.missed, one.failure?.line], [[1, 2, 3], [4], 3]);
});
