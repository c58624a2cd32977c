import { python, repr, type Family } from "./families.ts";

/** MBPP's assert lines, HumanEval's `check`, test classes, and tests in plain code. */
export const pythonFamilies: readonly Family[] = [
  python((r) => {
    const [a, b, x, y] = [r.int(2, 90), r.int(-50, 50), r.int(1, 400), r.int(401, 900)];
    return {
      right: `def line(n):\n    return ${a} * n + ${b}`,
      wrong: `def line(n):\n    return ${a} * n + ${b} if n < ${y} else 0`,
      test: `assert line(${x}) == ${a * x + b}\nassert line(${y}) == ${a * y + b}\nassert line(n=0) == ${b}`,
    };
  }),
  python((r) => {
    const [base, exponent] = [r.int(2, 30), r.int(40, 200)];
    return {
      right: `def power(b, e):\n    made = 1\n    for _ in range(e):\n        made *= b\n    return made`,
      wrong: `def power(b, e):\n    return int(float(b) ** e) + 1`,
      test: `assert power(${base}, ${exponent}) == ${base} ** ${exponent}\nassert -power(2, 61) == -(1 << 61)\nassert isinstance(power(2, 3), int)`,
    };
  }),
  python((r) => {
    const xs = r.list(r.int(1, 9), -1000, 1000).map((x) => x / 8);
    const mean = xs.reduce((sum, x) => sum + x, 0) / xs.length;
    return {
      right: "def mean(xs):\n    return sum(xs) / len(xs) if xs else float('nan')",
      wrong: "def mean(xs):\n    return sum(xs) / (len(xs) + 1) + 1e-3",
      test: `import math\nassert abs(mean(${repr(xs)}) - ${mean}) < 1e-6\nassert math.isclose(mean(${repr(xs)}), ${mean}, rel_tol=1e-9, abs_tol=1e-9)\nassert round(mean([1, 2]), 2) == 1.5\nassert math.isnan(mean([]))\nassert mean([float('inf')]) == float('inf')`,
    };
  }),
  python((r) => {
    const words = Array.from({ length: r.int(1, 5) }, () => r.word());
    return {
      right: "def turned(words):\n    return [w[::-1].upper() for w in words]",
      wrong: "def turned(words):\n    return [w[::-1].upper() + ' ' for w in words]",
      test: `assert turned(${repr(words)}) == [w[::-1].upper() for w in ${repr(words)}]\nassert turned([]) == []\nassert ''.join(turned(['ab', 'c'])) == 'BAC'`,
    };
  }),
  python((r) => {
    const xs = r.list(r.int(2, 12), -20, 20);
    return {
      right:
        "def tidy(xs):\n    xs.sort()\n    xs[:] = [x for k, x in enumerate(xs) if k == 0 or x != xs[k - 1]]",
      wrong: "def tidy(xs):\n    xs = sorted(set(xs))",
      test: `xs = ${repr([...xs, 99, -99])}\nassert tidy(xs) is None\nassert xs == sorted(set(${repr([...xs, 99, -99])}))`,
    };
  }),
  python((r) => {
    const text = repr(r.word() + r.word());
    return {
      right: `${r.of(["from collections import Counter\n", "import collections\nCounter = collections.Counter\n"])}def counts(text):\n    return ${r.of(["Counter(text)", "dict(Counter(text))", "{c: text.count(c) for c in text}"])}`,
      wrong: "def counts(text):\n    return {c: 1 for c in text} | {'': 0}",
      test: `expected = {}\nfor c in ${text}:\n    expected[c] = expected.get(c, 0) + 1\nfound = counts(${text})\nassert found == expected\nassert sorted(found.items()) == sorted(expected.items())\nassert isinstance(found, dict) and len(found) == len(expected)`,
    };
  }),
  python((r) => {
    const [xs, ys] = [r.list(r.int(1, 8), 0, 9), r.list(r.int(1, 8), 0, 9)];
    return {
      right: `def common(a, b):\n    return ${r.of(["set(a) & set(b)", "frozenset(a).intersection(b)", "{x for x in a if x in b}"])}`,
      wrong: "def common(a, b):\n    return set(a) | set(b) | {-1}",
      test: `assert common(${repr(xs)}, ${repr(ys)}) == set(${repr(xs)}) & set(${repr(ys)})\nassert common([1], [2]) == set()\nassert not common((1,), {2})`,
    };
  }),
  python((r) => {
    const xs = r.list(r.int(1, 9), -50, 50);
    return {
      right: "def ends(xs):\n    return (min(xs), max(xs)) if xs else None",
      wrong: "def ends(xs):\n    return [min(xs), max(xs)] if xs else ()",
      test: `assert ends(${repr(xs)}) == (${Math.min(...xs)}, ${Math.max(...xs)})\nlow, high = ends(${repr(xs)})\nassert low <= high\nassert ends([]) is None`,
    };
  }),
  python((r) => {
    const [n, m] = [r.int(1, 6), r.int(2, 9)];
    return {
      right:
        "def grid(n, m):\n    return {'rows': [[(i, j) for j in range(m)] for i in range(n)], 'size': n * m, 'none': None, 'flags': {True: b'x', (1, 2): 1.5}}",
      wrong:
        "def grid(n, m):\n    return {'rows': [[[i, j] for j in range(m)] for i in range(n)], 'size': n * m, 'none': None, 'flags': {True: b'x', (1, 2): 1.5}}",
      test: `assert grid(${n}, ${m}) == {'size': ${n * m}, 'rows': [[(i, j) for j in range(${m})] for i in range(${n})], 'none': None, 'flags': {True: b'x', (1, 2): 1.5}}\nassert grid(1, 1)['rows'][0][0] == (0, 0)`,
    };
  }),
  python((r) => {
    const [low, kind] = [
      r.int(1, 9),
      r.of(["ValueError", "KeyError", "TypeError", "ZeroDivisionError", "Exception"]),
    ];
    return {
      right: `def strict(n):\n    if n < ${low}:\n        raise ${kind}('below ${low}')\n    return n`,
      wrong: `def strict(n):\n    if n < ${low} - 1:\n        raise ${kind}('below ${low}')\n    return n`,
      test: r.of([
        `import unittest\nclass Tests(unittest.TestCase):\n    def test_raises(self):\n        with self.assertRaises(${kind}): strict(${low - 1})\n        self.assertRaises(${kind}, strict, ${low - 1})\n    def test_value(self):\n        self.assertEqual(strict(${low}), ${low})\n        self.assertIn(strict(${low}), [${low}])\nassert unittest.TextTestRunner().run(unittest.defaultTestLoader.loadTestsFromTestCase(Tests)).wasSuccessful()`,
        `try:\n    strict(${low - 1})\n    assert False, 'nothing was raised'\nexcept ${kind} as error:\n    assert 'below' in str(error) and error.args == ('below ${low}',)\nassert strict(${low}) == ${low}`,
        `raised = False\ntry:\n    strict(${low - 1})\nexcept ${kind}:\n    raised = True\nassert raised`,
      ]),
    };
  }),
  python((r) => {
    const [n, step] = [r.int(2, 30), r.int(1, 5)];
    return {
      right: `def up(n):\n    ${r.of([`for k in range(0, n, ${step}):\n        yield k`, `yield from range(0, n, ${step})`, `return iter(range(0, n, ${step}))`, `return (k for k in range(0, n, ${step}))`, `return map(int, range(0, n, ${step}))`])}`,
      wrong: `def up(n):\n    yield from range(${step}, n, ${step})`,
      test: `assert list(up(${n})) == list(range(0, ${n}, ${step}))\nassert sum(up(${n})) == sum(range(0, ${n}, ${step}))\nassert next(up(3)) == 0\nassert [k for k in up(${n}) if k > ${step}] == [k for k in range(0, ${n}, ${step}) if k > ${step}]\nassert tuple(zip(up(2), 'ab'))[0] == (0, 'a')`,
    };
  }),
  python((r) => {
    const xs = r.list(r.int(1, 6), 0, 99);
    return {
      right:
        "class Stack:\n    def __init__(self, items=()):\n        self.items = list(items)\n    def push(self, x):\n        self.items.append(x)\n        return self\n    def pop(self):\n        return self.items.pop()\n    @property\n    def top(self):\n        return self.items[-1] if self.items else None\n    def __len__(self):\n        return len(self.items)\n    def __contains__(self, x):\n        return x in self.items\n    def __iter__(self):\n        return iter(self.items)\n    def __getitem__(self, k):\n        return self.items[k]\n    def __str__(self):\n        return 'Stack(' + str(self.items) + ')'\n    def __bool__(self):\n        return bool(self.items)",
      wrong:
        "class Stack:\n    def __init__(self, items=()):\n        self.items = list(items)\n    def push(self, x):\n        self.items.insert(0, x)\n        return self\n    def pop(self):\n        return self.items.pop()\n    @property\n    def top(self):\n        return self.items[0] if self.items else None\n    def __len__(self):\n        return len(self.items)\n    def __contains__(self, x):\n        return x in self.items\n    def __iter__(self):\n        return iter(self.items)\n    def __getitem__(self, k):\n        return self.items[k]\n    def __str__(self):\n        return 'Stack(' + str(self.items) + ')'",
      test: `s = Stack()\nassert not s and s.top is None\nfor x in ${repr([...xs, 100])}:\n    s.push(x)\nassert len(s) == ${xs.length + 1} and list(s) == ${repr([...xs, 100])} and s[0] == ${xs[0]} and s[-1] == 100\nassert 100 in s and -1 not in s\nassert s.top == 100 and s.pop() == 100 and s.items == ${repr(xs)}\nassert str(s) == 'Stack(' + str(${repr(xs)}) + ')'\nassert isinstance(s, Stack) and Stack([1]).push(2).pop() == 2\ntry:\n    Stack().pop()\n    assert False\nexcept IndexError:\n    pass`,
    };
  }),
  python((r) => {
    const [a, b, c, d] = r.list(4, -30, 30) as [number, number, number, number];
    return {
      right: r.of([
        "from dataclasses import dataclass\n@dataclass(frozen=True)\nclass Point:\n    x: int\n    y: int\n    def __add__(self, other):\n        return Point(self.x + other.x, self.y + other.y)\n    def __lt__(self, other):\n        return (self.x, self.y) < (other.x, other.y)",
        "class Point:\n    def __init__(self, x, y):\n        self.x, self.y = x, y\n    def __eq__(self, other):\n        return isinstance(other, Point) and (self.x, self.y) == (other.x, other.y)\n    def __hash__(self):\n        return hash((self.x, self.y))\n    def __add__(self, other):\n        return Point(self.x + other.x, self.y + other.y)\n    def __lt__(self, other):\n        return (self.x, self.y) < (other.x, other.y)",
      ]),
      wrong:
        "from dataclasses import dataclass\n@dataclass(frozen=True)\nclass Point:\n    x: int\n    y: int\n    def __add__(self, other):\n        return Point(self.x + other.x, self.y + other.y + 1)\n    def __lt__(self, other):\n        return self.x < other.x",
      test: `p = Point(${a}, ${b}) + Point(${c}, ${d})\nassert p == Point(${a + c}, ${b + d}) and p != Point(${a + c}, ${b + d + 1})\nassert (p.x, p.y) == (${a + c}, ${b + d})\nassert p in [Point(0, 1000), Point(${a + c}, ${b + d})]\nassert len({Point(1, 2), Point(1, 2)}) == 1\nassert sorted([Point(2, 1), Point(1, 5)])[0].x == 1`,
    };
  }),
  python((r) => {
    const [n, k] = [r.int(1, 60), r.int(2, 9)];
    const multiples = Array.from({ length: n }, (_, i) => i).filter((i) => i % k === 0).length;
    return {
      right: `def how_many(n: int, k: int = ${k}) -> int:\n    """ How many multiples there are below n.\n    >>> how_many(1)\n    1\n    """\n    return len([i for i in range(n) if i % k == 0])`,
      wrong: `def how_many(n, k=${k}):\n    return n // k`,
      test: `METADATA = {'author': 'jt'}\n\n\ndef check(candidate):\n    assert candidate(${n}) == ${multiples}\n    assert candidate(n=1) == 1, "the first"\n    assert candidate(${n}, 1) == ${n}\n\ncheck(how_many)`,
    };
  }),
  python((r) => {
    const text = r.of(["def is_prime(n)", "x = [1, (2, 3)]", "a{b}c", "async with lambda"]);
    return {
      right:
        "class Solution:\n    def lengths(self, text: str) -> list[int]:\n        return [len(w) for w in text.split()]",
      wrong:
        "class Solution:\n    def lengths(self, text):\n        return [len(w) for w in text.split()][:-1]",
      test: `s = Solution()\nassert s.lengths(${repr(text)}) == [len(w) for w in ${repr(text)}.split()]\nassert Solution().lengths("a  bc") == [1, 2]`,
    };
  }),
  python((r) => {
    const xs = r.list(r.int(1, 8), -9, 9);
    return {
      right: `def nodes(xs):\n    head = None\n    for x in reversed(xs):\n        head = Node(x, head)\n    return head\ndef total(node):\n    return 0 if node is None else node.value + total(node.next)`,
      wrong: `def nodes(xs):\n    head = None\n    for x in xs:\n        head = Node(x, head)\n    return head\ndef total(node):\n    return 1 if node is None else node.value + total(node.next)`,
      setup:
        "class Node:\n    def __init__(self, value, next=None):\n        self.value, self.next = value, next",
      test: `head = nodes(${repr(xs)})\nassert total(head) == ${xs.reduce((a, b) => a + b, 0)}\nassert head.value == ${xs[0]}\nseen = []\nwhile head is not None:\n    seen.append(head.value)\n    head = head.next\nassert seen == ${repr(xs)}\nassert total(Node(1, Node(2))) == 3`,
    };
  }),
  python((r) => {
    const [a, b] = [r.int(1, 20), r.int(2, 20)];
    return {
      right: `from fractions import Fraction\nfrom decimal import Decimal\nimport datetime\ndef share(a, b):\n    return Fraction(a, b), Decimal(a) / Decimal(8), datetime.date(2020, 1, 1) + datetime.timedelta(days=a), complex(a, b), bytes([a]), range(a)`,
      wrong: `from fractions import Fraction\nfrom decimal import Decimal\nimport datetime\ndef share(a, b):\n    return Fraction(a, b), Decimal(a) / Decimal(8), datetime.date(2020, 1, 1) + datetime.timedelta(days=a + 1), complex(a, b), bytes([a]), range(a)`,
      test: `from fractions import Fraction\nfrom decimal import Decimal\nimport datetime\none, two, three, four, five, six = share(${a}, ${b})\nassert one == Fraction(${a}, ${b}) and two == Decimal(${a}) / 8 and four == ${a} + ${b}j and five == bytes([${a}]) and six == range(${a})\nassert three == datetime.date(2020, 1, 1) + datetime.timedelta(days=${a})\nassert one + 1 > one`,
    };
  }),
  python((r) => {
    const xs = r.list(r.int(2, 7), 1, 30);
    return {
      right:
        "import heapq\ndef smallest(xs, k, key=None):\n    return heapq.nsmallest(k, xs, key=key)\ndef apply(f, x):\n    return f(x)",
      wrong:
        "def smallest(xs, k, key=None):\n    return sorted(xs)[-k:] + [None]\ndef apply(f, x):\n    return f(x)",
      test: r.of([
        `assert smallest(${repr(xs)}, 2) == sorted(${repr(xs)})[:2]\nassert smallest(${repr(xs)}, 1, abs) == [${Math.min(...xs)}]`,
        `assert apply(len, ${repr(xs)}) == ${xs.length} and apply(sorted, [2, 1]) == [1, 2] and apply(str, 1) == '1' and smallest([2, 1], 1) == [1]`,
        `assert smallest(${repr(xs)}, 1, lambda x: -x) == [${Math.max(...xs)}]`,
        `import math, operator\nassert apply(math.sqrt, 16) == 4.0 and smallest([-3, 2], 1, key=abs) == [2] and apply(operator.neg, 1) == -1`,
      ]),
    };
  }),
  python((r) => {
    const word = r.word();
    return {
      right:
        "from enum import Enum\nclass Color(Enum):\n    RED = 1\n    BLUE = 2\ndef pick(text):\n    return Color.RED if len(text) % 2 else Color.BLUE",
      wrong:
        "from enum import Enum\nclass Color(Enum):\n    RED = 1\n    BLUE = 2\ndef pick(text):\n    return Color.BLUE if len(text) % 2 else Color.RED",
      test: `expected = len(${repr(word)}) % 2\nassert pick(${repr(word)}) == (Color.RED if expected else Color.BLUE)\nassert pick('a') is Color.RED and pick('').value == 2 and pick('a').name == 'RED'\nassert {Color.RED: 1}[pick('a')] == 1`,
    };
  }),
  python((r) => {
    const [n, start] = [r.int(1, 5), r.int(0, 50)];
    return {
      right:
        "class Account:\n    count = 0\n    def __init__(self, owner, balance=0):\n        self.owner, self.balance = owner, balance\n        Account.count += 1\n    def pay(self, amount, *, fee=0):\n        if amount + fee > self.balance:\n            raise Broke(self.owner, amount)\n        self.balance -= amount + fee\n        return self.balance\n    @classmethod\n    def empty(cls):\n        return cls('nobody')\n    @staticmethod\n    def rate():\n        return 0.5\nclass Broke(Exception):\n    pass",
      wrong:
        "class Account:\n    count = 0\n    def __init__(self, owner, balance=0):\n        self.owner, self.balance = owner, balance\n        Account.count += 1\n    def pay(self, amount, *, fee=0):\n        if amount > self.balance:\n            raise Broke(self.owner, amount)\n        self.balance -= amount\n        return self.balance\n    @classmethod\n    def empty(cls):\n        return cls('nobody')\n    @staticmethod\n    def rate():\n        return 0.5\nclass Broke(Exception):\n    pass",
      test: `accounts = [Account('a', ${start + 10}) for _ in range(${n})]\nassert Account.count == ${n}\nassert all(one.pay(5, fee=1) == ${start + 4} for one in accounts)\nassert Account.empty().balance == 0 and Account.rate() == 0.5\naccounts[0].balance += 1\nassert accounts[0].balance == ${start + 5} and getattr(accounts[0], 'owner') == 'a' and not hasattr(accounts[0], 'none')\ntry:\n    Account('b').pay(1)\n    assert False\nexcept Broke as error:\n    assert error.args == ('b', 1)`,
    };
  }),
];
