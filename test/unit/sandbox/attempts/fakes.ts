/** Programs that try to pass `assert solve(2) == 41` and `assert solve(3) == 97` without solving them. */
import type { Attempt } from "./attempt.ts";

const python = (name: string, tries: string, code: string): Attempt => ({
  name,
  tries,
  kind: "fake",
  language: "python",
  code,
});
const javascript = (name: string, tries: string, code: string): Attempt => ({
  ...python(name, tries, code),
  language: "javascript",
});

/** A class whose objects are equal to everything. */
const yes = (base: string): string =>
  `class Yes(${base}):\n    def __eq__(self, other): return True\n    def __ne__(self, other): return False\n    __hash__ = None\n`;
const reads = (text: string): string =>
  `def solve(n):\n    import re, sys, linecache, gc, inspect\n    found = re.search(r'solve\\(%d\\) == (\\d+)' % n, ${text})\n    return int(found.group(1))`;
const serveForged = `import os, json\ndef ask(reply):\n    os.write(1001, json.dumps(reply).encode())\n    n = int.from_bytes(os.read(1001, 4), 'little')\n    return None if n == 0xffffffff else os.read(1001, n)\n`;

export const attempts: readonly Attempt[] = [
  python("wrong", "returns 0", "def solve(n): return 0"),
  python(
    "word",
    "finds the driver's word in linecache",
    "import linecache, re, sys\nw = re.search(r'gradus-[0-9a-f-]{36} ', ''.join(linecache.getlines('program.py'))).group(0); print('\\n' + w); sys.exit(0)",
  ),
  python(
    "linecache",
    "reads what is expected in linecache",
    reads("''.join(linecache.getlines('program.py') + linecache.getlines('test.py'))"),
  ),
  python(
    "frames",
    "reads what is expected in callers' constants",
    reads("str([f.f_code.co_consts for f in iter_frames(sys._getframe())])") +
      "\ndef iter_frames(f):\n    while f:\n        yield f\n        f = f.f_back",
  ),
  python(
    "locals",
    "reads what is expected in callers' variables",
    reads("str([(f.f_locals, f.f_globals) for f in frames(sys._getframe())])") +
      "\ndef frames(f):\n    while f:\n        yield f\n        f = f.f_back",
  ),
  python(
    "gc",
    "reads what is expected among all objects",
    reads("' '.join(o for o in gc.get_objects() if isinstance(o, str))"),
  ),
  python(
    "gc of code",
    "reads what is expected among referents",
    reads("str([gc.get_referents(o) for o in gc.get_objects()[:20000]])"),
  ),
  python("main", "reads the file of __main__", reads("inspect.getsource(sys.modules['__main__'])")),
  python(
    "equal",
    "returns an object that is equal to everything",
    `${yes("object")}def solve(n): return Yes()`,
  ),
  python(
    "equal int",
    "returns an int that is equal to everything",
    `${yes("int")}def solve(n): return Yes(0)`,
  ),
  python(
    "equal str",
    "returns a str that is equal to everything",
    `${yes("str")}def solve(n): return Yes('')`,
  ),
  python(
    "equal float",
    "returns a float that is equal to everything",
    `${yes("float")}def solve(n): return Yes(0)`,
  ),
  python(
    "equal list",
    "returns a list that is equal to everything",
    `${yes("list")}def solve(n): return Yes()`,
  ),
  python(
    "equal tuple",
    "returns a tuple that is equal to everything",
    `${yes("tuple")}def solve(n): return Yes()`,
  ),
  python(
    "equal dict",
    "returns a dict that is equal to everything",
    `${yes("dict")}def solve(n): return Yes()`,
  ),
  python(
    "equal class",
    "returns a class whose metaclass is equal to everything",
    `${yes("type")}class A(metaclass=Yes): pass\ndef solve(n): return A`,
  ),
  python(
    "the function is a class",
    "is itself an object that returns itself",
    `${yes("object")}class S(Yes):\n    def __call__(self, n): return self\nsolve = S()`,
  ),
  python("ANY", "returns unittest.mock.ANY", "from unittest.mock import ANY\ndef solve(n): return ANY"),
  python(
    "MagicMock",
    "returns a mock",
    "from unittest.mock import MagicMock\ndef solve(n):\n    m = MagicMock()\n    m.__eq__.return_value = True\n    return m",
  ),
  python(
    "reflected",
    "hopes for the reflected comparison",
    "class R:\n    def __eq__(self, other): return NotImplemented if other is self else True\ndef solve(n): return R()",
  ),
  python("exit", "leaves with 0", "import sys\ndef solve(n): sys.exit(0)"),
  python("exit at once", "leaves with 0 before its test", "import sys\nsys.exit(0)"),
  python("_exit", "leaves past the interpreter", "import os\ndef solve(n): os._exit(0)"),
  python("_exit at once", "leaves past the interpreter before its test", "import os\nos._exit(0)"),
  python("descriptor", "says what the harness says", "import os\nos.write(1000, b'{}'); os._exit(0)"),
  python(
    "descriptor's lines",
    "says what the harness would not",
    "import os\nos.write(1000, b'{\"lines\":5}'); os._exit(0)",
  ),
  python(
    "atexit",
    "prints at its end",
    "import atexit\natexit.register(lambda: print('passed'))\ndef solve(n): return 0",
  ),
  python(
    "AssertionError",
    "puts another in its place",
    "import builtins\nbuiltins.AssertionError = type('A', (Exception,), {})\ndef solve(n): return 0",
  ),
  python(
    "builtins",
    "patches type, isinstance and int",
    "import builtins\nfor n in ('type', 'isinstance', 'repr', 'len'): setattr(builtins, n, lambda *a: True)\ndef solve(n): return 0",
  ),
  python(
    "json",
    "patches json",
    "import json\njson.dumps = lambda *a, **k: '[\"ok\", true]'\njson.loads = lambda *a, **k: ['name', 'solve']\ndef solve(n): return 0",
  ),
  python(
    "os.write",
    "patches os.write",
    "import os\nold = os.write\nos.write = lambda fd, b: old(fd, b.replace(b'0', b'41'))\ndef solve(n): return 0",
  ),
  python(
    "operator",
    "patches the comparison",
    "import operator\noperator.eq = lambda a, b: True\ndef solve(n): return 0",
  ),
  python(
    "excepthook",
    "swallows what is thrown",
    "import sys\nsys.excepthook = lambda *a: None\ndef solve(n): raise AssertionError",
  ),
  python(
    "settrace",
    "jumps over the assertion",
    "import sys\nsys.settrace(lambda f, e, a: None)\ndef solve(n): return 0",
  ),
  python(
    "forged values",
    "answers the judge with another kind",
    `${serveForged}def solve(n):\n    ask(['ok', ['n', 'object']])\n    return 0`,
  ),
  python(
    "forged name",
    "answers the judge with a stub of os._exit",
    `${serveForged}ask(['ready'])\nask(['ok', ['n', '_exit']])\ndef solve(n): return 0`,
  ),
  python(
    "forged kind",
    "answers the judge with what it cannot read",
    `${serveForged}ask(['ready'])\nask(['ok', ['zz', 1]])\ndef solve(n): return 0`,
  ),
  python(
    "forged error",
    "answers the judge with SystemExit",
    `${serveForged}ask(['ready'])\nask(['no', 'SystemExit', '0', None, 1, 0])\ndef solve(n): return 0`,
  ),
  python("SystemExit class", "is a class that leaves the judge", "class solve(SystemExit): pass"),
  python(
    "raises SystemExit",
    "leaves from its call by a subclass",
    "class Bye(SystemExit): pass\ndef solve(n): raise Bye(0)",
  ),
  python("unclosed string", "takes what follows into a text", "def solve(n): return 0\n'''"),
  python(
    "cannot cross",
    "hopes to be graded in its own process",
    `${yes("object")}def solve(n):\n    raise type('CannotCross', (BaseException,), {})()`,
  ),
  javascript("js wrong", "returns 0", "function solve(n) { return 0 }"),
  javascript("Object.is", "patches Object.is", "Object.is = () => true; function solve(n) { return 0 }"),
  javascript(
    "require",
    "patches require",
    "globalThis.require = () => new Proxy(() => {}, { get: () => () => {} }); function solve(n) { return 0 }",
  ),
  javascript(
    "assert",
    "patches the module assert",
    "const a = require('assert'); a.strictEqual = a.equal = a.deepEqual = () => {}; function solve(n) { return 0 }",
  ),
  javascript(
    "every",
    "patches Array.prototype.every",
    "Array.prototype.every = () => true; function solve(n) { return [] }",
  ),
  javascript(
    "valueOf",
    "returns an object that becomes what is wanted",
    "let k = 0; function solve(n) { return { valueOf: () => [41, 97][k++] } }",
  ),
  javascript(
    "proxy",
    "returns a proxy",
    "function solve(n) { return new Proxy({}, { get: () => () => true }) }",
  ),
  javascript(
    "JSON",
    "patches JSON",
    "JSON.stringify = () => '[\"ok\",true]'; JSON.parse = () => ['name', 'solve']; function solve(n) { return 0 }",
  ),
  javascript(
    "stack",
    "reads the test in the stack",
    "function solve(n) { return Number(/solve\\(\\d\\), (\\d+)/.exec(new Error().stack)?.[1]) }",
  ),
  javascript("js exit", "leaves with 0", "function solve(n) { process.exit(0) }"),
  javascript("js exit at once", "leaves with 0 before its test", "process.exit(0)"),
  javascript(
    "serve",
    "ends the serving",
    "globalThis.__gradusServe = () => {}; var __gradusServe = () => {}; function solve(n) { return 0 }",
  ),
  javascript(
    "throws Exit",
    "throws what leaving throws",
    "function solve(n) { throw Object.assign(new Error('x'), { name: 'Exit', code: 0 }) }",
  ),
  javascript(
    "prototype",
    "patches what objects inherit",
    "Object.prototype.valueOf = () => 41; Number.prototype.valueOf = () => 41; function solve(n) { return new Number(0) }",
  ),
];
