import assert from "node:assert/strict";
import { createServer } from "node:net";
import { existsSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { openSandbox } from "../../../server/lib/sandbox/openSandbox.ts";
import type { SandboxProgram, SandboxResult } from "../../../server/lib/sandbox/sandbox.ts";
import { sandboxProcess } from "../../support/sandboxProcess.ts";

await sandboxProcess();
const sandbox = openSandbox();
after(() => sandbox.close());

type More = Partial<SandboxProgram>;
const python = (code: string, more: More = {}): Promise<SandboxResult> =>
  sandbox.run({ language: "python", code, seconds: 5, memory: 256, ...more });
const javascript = (code: string, more: More = {}): Promise<SandboxResult> =>
  sandbox.run({ language: "javascript", code, seconds: 5, memory: 64, ...more });
const kindOf = async (run: Promise<SandboxResult>): Promise<string> => (await run).failure?.kind ?? "none";
const printed = async (run: Promise<SandboxResult>): Promise<string> => {
  const { stdout, failure } = await run;
  assert.equal(failure, undefined);
  return stdout;
};

test("Python reads its input and prints", async () => {
  const code = "n = int(input())\nprint(n, *sorted(map(int, input().split())), 'é€😀')";
  assert.equal(await printed(python(code, { stdin: "3\n3 1 2\n" })), "3 1 2 3 é€😀\n");
});

test("Python has its usual library, and its own semantics", async () => {
  const code = `
import math, re, collections, itertools, functools, heapq, json, random, string, typing, dataclasses, io, sys
import bisect, decimal, fractions, statistics, datetime, unittest, asyncio, threading
@dataclasses.dataclass(order=True)
class P:
    x: int
    y: typing.Optional[str] = None
async def later():
    await asyncio.sleep(0.001)
    return math.comb(60, 30)
sys.setrecursionlimit(10**6)
def depth(n):
    return 0 if n == 0 else 1 + depth(n - 1)
out = []
worker = threading.Thread(target=lambda: out.append(depth(20000)))
worker.start()
worker.join()
print(P(1) < P(2), asyncio.run(later()), out, -7 // 2, re.sub(r"(\\d+)", r"<\\1>", "a12"), 2 ** 100)
`;
  assert.equal(
    await printed(python(code)),
    "True 118264581564861424 [20000] -4 a<12> 1267650600228229401496703205376\n",
  );
});

test("Python asks of its descriptors and its clock what programs ask", async () => {
  const code = `
import datetime, fcntl, mmap, os, platform, select, shutil, sys, time
print(select.select([sys.stdin], [], [], 0)[0] == [sys.stdin], fcntl.fcntl(0, fcntl.F_GETFL), os.fsync(1))
print(sys.stdin.isatty(), shutil.get_terminal_size().columns, os.path.exists("/lib"), os.path.exists("/etc/passwd"))
print(time.localtime().tm_year > 2000, datetime.datetime.now().year > 2000, time.perf_counter() > 0, len(os.urandom(4)))
print(mmap.mmap(-1, 10)[0], os.getpid() > 0, platform.system(), os.access("/x", 4), open(0).read())
`;
  assert.equal(
    await printed(python(code, { stdin: "3\n" })),
    "True 0 None\nFalse 80 True False\nTrue True True 4\n0 True Emscripten False 3\n\n",
  );
});

test("JavaScript reads its input as Node's programs do", async () => {
  const readings = [
    "const n = require('fs').readFileSync(0, 'utf8').trim().split('\\n').map(Number); console.log(n[0] + n[1])",
    "const rl = require('readline').createInterface({ input: process.stdin }); let s = 0; rl.on('line', (l) => (s += +l)); rl.on('close', () => console.log(s))",
    "let t = ''; process.stdin.on('data', (c) => (t += c)); process.stdin.on('end', () => console.log(eval(t.trim().replace('\\n', '+'))))",
    "import { readFileSync } from 'node:fs';\nconsole.log(readFileSync('/dev/stdin', 'utf8').split('\\n').slice(0, 2).reduce((a, b) => a + +b, 0))",
    "(async () => { let s = 0; for await (const l of require('readline').createInterface({ input: process.stdin })) s += +l; console.log(s) })()",
  ];
  for (const code of readings) assert.equal(await printed(javascript(code, { stdin: "2\n3\n" })), "5\n");
});

test("console.log writes values as Node does", async () => {
  const code =
    "console.log([1, 'a', { b: [2] }], new Map([[1, new Set([2])]]), null, -0, 5n, 'x', [undefined]); console.log('%s is %d', 'a', 1)";
  assert.equal(
    await printed(javascript(code)),
    "[ 1, 'a', { b: [ 2 ] } ] Map(1) { 1 => Set(1) { 2 } } null -0 5n x [ undefined ]\na is 1\n",
  );
});

test("what a program changes is gone before the next", async () => {
  const spoil = `
import builtins, json, math, os, random, sys, threading
builtins.len = builtins.print = None
math.pi = 3
json.dumps = None
sys.modules["re"] = None
sys.stdout = None
sys.setrecursionlimit(50)
os.environ["A"] = "1"
random.seed(99)
leaked = [0] * 100000
str.__class__
import atexit
atexit.register(lambda: os.write(1, b"late"))
class Later(threading.Thread):
    pass
`;
  const look = `
import json, math, os, random, re, sys
print(len("abc"), math.pi > 3.1, json.dumps([1]), "leaked" in globals(), "A" in os.environ, sys.getrecursionlimit(), random.random())
`;
  const clean = await printed(python(look));
  assert.match(clean, /^3 True \[1\] False False 1000 0\.\d+\n$/);
  for (let k = 0; k < 4; k++) assert.equal(await kindOf(python(spoil)), "none");
  for (let k = 0; k < 4; k++) assert.equal(await printed(python(look)), clean);

  const spoilt =
    "Object.prototype.x = 1; Array.prototype.map = null; globalThis.y = 2; JSON.stringify = null; setInterval(() => {}, 1e9); new Promise(() => {}); process.exit(0)";
  for (let k = 0; k < 4; k++) assert.equal(await kindOf(javascript(spoilt)), "none");
  for (let k = 0; k < 4; k++)
    assert.equal(
      await printed(javascript("console.log([1].map((x) => x + 1), ({}).x, typeof y, JSON.stringify([1]))")),
      "[ 2 ] undefined undefined [1]\n",
    );
});

test("an exception is told with its line and name", async () => {
  const { failure, stderr } = await python("def f():\n    return 1 / 0\n\nf()");
  assert.deepEqual(failure, {
    kind: "exception",
    message: "ZeroDivisionError: division by zero",
    name: "ZeroDivisionError",
    line: 2,
  });
  assert.match(stderr, /File "program.py", line 2, in f\n {4}return 1 \/ 0/);
  assert.deepEqual((await python("x = 1\ndef f(:")).failure?.line, 2);
  assert.deepEqual((await python("import sys\nsys.exit(3)")).failure?.message, "left with 3");
  assert.equal(await kindOf(python("import sys\nsys.exit(0)")), "none");
  assert.deepEqual((await javascript("\n\nnull.x")).failure, {
    kind: "exception",
    message: "TypeError: cannot read property 'x' of null",
    name: "TypeError",
    line: 3,
  });
});

test("which lines ran, and what the last expression is worth", async () => {
  const { lines, missed, value } = await python("x = 1\nif x > 1:\n    x = 2\nelse:\n    x = 3\nx * 2", {
    lines: true,
    value: true,
  });
  assert.deepEqual(lines, [1, 2, 5, 6]);
  assert.deepEqual(missed, [3]);
  assert.equal(value, "6");
});

test("a file, the network and a process are refused", async () => {
  const planted = join(tmpdir(), `gradus-planted-${process.pid}`);
  let calls = 0;
  const server = createServer((socket) => (calls++, socket.destroy())).listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  const address = server.address();
  const port = typeof address === "object" && address !== null ? address.port : 0;
  for (const code of [
    "open('/etc/passwd').read()",
    `open(${JSON.stringify(planted)}, 'w').write('x')`,
    "import os\nos.mkdir('/tmp/x')",
    "import os\nos.remove('/lib/python314.zip')",
    `import socket\nsocket.create_connection(('127.0.0.1', ${port}))`,
    `import urllib.request\nurllib.request.urlopen('http://127.0.0.1:${port}/')`,
    "import subprocess\nsubprocess.run(['ls'])",
    "import os\nos.system('ls')",
    "import os\nos.fork()",
  ])
    assert.equal(await kindOf(python(code)), "refused", code);
  for (const code of [
    "require('fs').readFileSync('/etc/passwd')",
    `require('fs').writeFileSync(${JSON.stringify(planted)}, 'x')`,
    "require('fs').readdirSync('/')",
    `require('net').connect(${port})`,
    `fetch('http://127.0.0.1:${port}/')`,
    "require('child_process').execSync('ls')",
    "import { execSync } from 'node:child_process'",
  ])
    assert.equal(await kindOf(javascript(code)), "refused", code);
  assert.ok(!existsSync(planted));
  assert.equal(calls, 0);
  server.close();
});

test("the interpreter's own machinery is out of reach", async () => {
  for (const name of ["js", "pyodide", "pyodide_js", "_pyodide_core", "pyodide.code", "ctypes"])
    assert.equal((await python(`import ${name}`)).failure?.name, "ModuleNotFoundError", name);
  // To take the name away brings nothing back: the interpreter has no such module.
  const hidden = `
import _imp, importlib, sys
for name in [name for name in sys.modules if sys.modules[name] is None]:
    del sys.modules[name]
for name in ("_ctypes", "_pyodide_core", "_posixsubprocess", "_testcapi", "_testinternalcapi", "js", "pyodide_js"):
    try:
        importlib.import_module(name)
        print(name)
    except ModuleNotFoundError:
        pass
    if _imp.is_builtin(name):
        print(name)
print("none")
`;
  assert.equal(await printed(python(hidden)), "none\n");
  // Whoever finds a way to the bridge all the same is ended as it is called.
  const around = `
import gc
found = [one for one in gc.get_objects() if type(one).__name__ == "JsProxy"]
for one in found:
    try:
        one.constructor
    except BaseException as error:
        print(type(error))
for one in gc.get_objects():
    if getattr(one, "__name__", "") == "to_js" and callable(one):
        one(b"x")
`;
  const { stdout, failure } = await python(around);
  assert.equal(stdout, "");
  assert.match(failure?.message ?? "reached for what is not there", /^reached for what is not there/);
  assert.equal(
    await printed(
      javascript(
        "console.log(typeof process.binding, typeof WebAssembly, this.constructor.constructor('return typeof Worker')())",
      ),
    ),
    "undefined undefined undefined\n",
  );
});

test("an endless loop, a memory bomb and a flood end in a named error, and the next program runs", async () => {
  const quick: More = { seconds: 0.3 };
  const loops = ["while True:\n    pass", "import time\ntime.sleep(1000)"];
  for (const code of loops) assert.equal(await kindOf(python(code, quick)), "timeout", code);
  const stubborn = "while True:\n    try:\n        while True: pass\n    except BaseException: pass";
  assert.equal(await kindOf(python(stubborn, quick)), "timeout");
  assert.equal(await kindOf(python("(9 ** 9 ** 8) % 7", quick)), "timeout");
  assert.equal(await kindOf(python("x = []\nwhile True:\n    x.append(bytearray(1 << 20))")), "memory");
  assert.equal(await kindOf(python("x = 'a' * (1 << 30)")), "memory");
  assert.equal(await kindOf(python("while True:\n    print('x' * 10000)")), "output");
  assert.equal(await kindOf(python("import os\nos._exit(1)")), "exception");
  assert.equal(await printed(python("print(1)")), "1\n");
  assert.equal(await kindOf(javascript("for (;;);", quick)), "timeout");
  assert.equal(await kindOf(javascript("const a = []; for (;;) a.push(new Array(1000).fill(1))")), "memory");
  assert.equal(await kindOf(javascript("for (;;) console.log('x'.repeat(10000))")), "output");
  assert.equal((await javascript("(function f() { return f() + 1 })()")).failure?.name, "RangeError");
  assert.equal(await printed(javascript("console.log(1)")), "1\n");
});

test("an aborted program rejects, and its process is ended", async () => {
  const stop = new AbortController();
  const run = sandbox.run(
    { language: "python", code: "while True: pass", seconds: 60, memory: 64 },
    stop.signal,
  );
  setTimeout(() => stop.abort(new Error("stopped")), 50);
  await assert.rejects(run, /stopped/);
  assert.equal(await printed(python("print(2)")), "2\n");
});
