/**
 * Python programs that try to leave, to read, to spoil what comes after them, or to take more than they may. One that gets what it
 * wants prints PASSED.
 */
import type { Attempt } from "./attempt.ts";

const attempt = (kind: Attempt["kind"], tries: string, code: string): Attempt => ({
  name: `python: ${tries}`,
  tries,
  kind,
  language: "python",
  code,
});

/** Any of the modules that `removed` names, by a way of importing. */
const bringsBack = (name: string): Attempt =>
  attempt(
    "escape",
    `brings ${name} back that only its name hides`,
    `
import sys
for n in [n for n in sys.modules if sys.modules[n] is None]: del sys.modules[n]
import ${name}
print("PASSED")
`,
  );

const writeByBytecode = `
# An object that is none: constants are read beyond their end.
import types
def f(): pass
code = f.__code__.replace(co_code=bytes([151, 0, 100, 255, 83, 0]), co_consts=())
`;

export const attempts: readonly Attempt[] = [
  ...["_ctypes", "_pyodide_core", "_posixsubprocess", "_testcapi", "_testinternalcapi", "_xxtestfuzz"].map(
    bringsBack,
  ),
  attempt(
    "escape",
    "writes references of JsProxies with ctypes, to reach Pyodide's own API",
    `
import sys, gc
for n in [n for n in sys.modules if sys.modules[n] is None]: del sys.modules[n]
import _pyodide_core as c, ctypes
def at(o): return ctypes.c_int.from_address(id(o) + 36)
g = c.to_js(b"x"); at(g).value = 3
print("PASSED", g.constructor)
`,
  ),
  attempt(
    "escape",
    "takes the bridge's functions from the objects that the collector knows",
    `
import gc
found = [one for one in gc.get_objects() if type(one).__name__ in ("JsProxy", "JsException") or getattr(one, "__module__", None) in ("_pyodide_core", "js")]
calls = [one for one in found if callable(one) and getattr(one, "__name__", "") in ("to_js", "run_sync", "create_proxy", "create_once_callable")]
for call in calls:
    print("PASSED", call(b"x"))
`,
  ),
  attempt(
    "escape",
    "makes a JsProxy of its type",
    `
for one in object.__subclasses__():
    if one.__name__ in ("JsProxy", "JsModule", "JsArray"):
        made = one.__new__(one)
        print("PASSED", made.constructor)
raise TypeError("no such type")
`,
  ),
  attempt(
    "escape",
    "asks the importer of built-in modules itself",
    `
import _imp, types
class Spec: name = "_ctypes"; origin = "built-in"; loader = None
made = _imp.create_builtin(Spec)
if made is not None: print("PASSED", made)
`,
  ),
  attempt(
    "escape",
    "asks for a module that was imported before under the name that the interpreter keeps it by",
    `
import _imp
for name in ("_pyodide_core", "_pyodide_core:_pyodide_core", "\\x01pyodide_core"):
    class Spec: pass
    Spec.name = name
    try:
        made = _imp.create_builtin(Spec)
        if made is not None: print("PASSED", made)
    except ImportError: pass
`,
  ),
  attempt(
    "escape",
    "reads the list of built-in modules for what reaches the host",
    `
import _imp, sys
for name in ("_ctypes", "_pyodide_core", "_posixsubprocess", "_testcapi"):
    if _imp.is_builtin(name): print("PASSED", name)
`,
  ),
  attempt(
    "escape",
    "imports the bridge in an interpreter of its own",
    `
import _interpreters
i = _interpreters.create()
print(_interpreters.exec(i, "import _ctypes; print('PASSED')"))
`,
  ),
  attempt(
    "escape",
    "evaluates JavaScript through pyodide.code",
    `from pyodide.code import run_js\nprint("PASSED", run_js("1"))`,
  ),
  attempt(
    "escape",
    "evaluates JavaScript through the package without its core",
    `
import sys
for n in [n for n in sys.modules if sys.modules[n] is None]: del sys.modules[n]
import pyodide.code
print("PASSED", pyodide.code.run_js("1 + 1"))
`,
  ),
  attempt(
    "escape",
    "puts the bridge's finder back and imports js",
    `
import sys
for n in [n for n in sys.modules if sys.modules[n] is None]: del sys.modules[n]
import _pyodide._importhook as hook
hook.register_js_finder()
import js
print("PASSED", js.globalThis)
`,
  ),
  attempt(
    "escape",
    "calls a made-up function of the machine",
    `${writeByBytecode}\nprint("PASSED" if exec(code) is not None else "")`,
  ),
  attempt(
    "escape",
    "opens a shared library",
    `import sys, importlib.machinery as m\nl = m.ExtensionFileLoader("x", "/lib/x.so")\nimport importlib.util as u\nl.create_module(u.spec_from_loader("x", l))\nprint("PASSED")`,
  ),
  attempt(
    "escape",
    "installs a handler of signals and sends itself one",
    `import os, signal\nsignal.signal(signal.SIGTERM, lambda *a: print("PASSED"))\nos.kill(os.getpid(), signal.SIGTERM)`,
  ),
  attempt(
    "escape",
    "starts a process by subprocess's own function",
    `import subprocess\nsubprocess._fork_exec = __import__("_posixsubprocess").fork_exec\nprint("PASSED", subprocess.run(["id"]))`,
  ),
  attempt("escape", "starts a process by a fork of posix", `import posix\nprint("PASSED", posix.fork())`),
  attempt(
    "escape",
    "runs a command by system of posix, whose name in os is replaced",
    `import posix\nif posix.system("id > /tmp/x") == 0: print("PASSED")`,
  ),
  attempt("read", "reads a file of the machine", `print("PASSED", open("/etc/passwd").read()[:5])`),
  attempt(
    "read",
    "reads a file beside the library by dots",
    `print("PASSED", open("/lib/python3.14/../../etc/passwd").read()[:5])`,
  ),
  attempt("read", "reads the process's own state", `print("PASSED", open("/proc/self/environ").read())`),
  attempt(
    "read",
    "reads the machine's variables",
    `import os\nif any(k in os.environ for k in ("HOME", "PATH", "USER")) or len(os.environb): print("PASSED", os.environ)`,
  ),
  attempt(
    "read",
    "reads the variables that C has",
    `import posix\nprint("PASSED" if any(k not in (b"HOME",) and b"/root" in v for k, v in posix.environ.items()) else "")`,
  ),
  attempt(
    "read",
    "lists a folder of the machine",
    `import os\nif {"etc", "usr"} <= set(os.listdir("/")): print("PASSED")`,
  ),
  attempt(
    "read",
    "reads a descriptor of the process that runs it",
    `
import os
for fd in range(3, 64):
    try:
        if os.read(fd, 10): print("PASSED", fd)
    except OSError: pass
`,
  ),
  attempt(
    "read",
    "reads standard input of a program before it",
    `import sys\nif "secret" in sys.stdin.read(): print("PASSED")`,
  ),
  attempt(
    "read",
    "maps a file into memory",
    `import mmap, os\nprint("PASSED", mmap.mmap(os.open("/etc/passwd", 0), 10)[:5])`,
  ),
  attempt(
    "read",
    "connects to this machine",
    `import socket\ns = socket.socket()\ns.connect(("127.0.0.1", 22))\nprint("PASSED")`,
  ),
  attempt(
    "read",
    "asks for the address of a host",
    `import socket\nprint("PASSED" if socket.gethostbyname("localhost") == "127.0.0.1" and socket.getaddrinfo("example.org", 80) else "")`,
  ),
  attempt(
    "read",
    "makes a pair of connected sockets",
    `import socket\na, b = socket.socketpair()\nprint("PASSED")`,
  ),
  attempt(
    "fake",
    "tells in the harness's place, and leaves",
    `import os\nos.write(1000, b'{"lines":[1],"missed":[]}')\nos._exit(0)`,
  ),
  attempt(
    "fake",
    "tells what breaks whoever reads it",
    `import os\nos.write(1000, b'{"lines":5}')\nos._exit(0)`,
  ),
  attempt(
    "fake",
    "tells a failure without its parts",
    `import os\nos.write(1000, b'{"failure":null}')\nos._exit(0)`,
  ),
  attempt("fake", "tells twice", `import os\nos.write(1000, b'{}')`),
  attempt(
    "poison",
    "opens all descriptors that there are",
    `
import os
try:
    while True: os.open("/lib/python314.zip", 0)
except OSError: pass
`,
  ),
  attempt(
    "poison",
    "closes all descriptors that there are",
    `
import os
for fd in range(4096):
    try: os.close(fd)
    except OSError: pass
os.closerange(0, 4096)
`,
  ),
  attempt(
    "poison",
    "reads the library's own file to its end",
    `
import os
fd = os.open("/lib/python314.zip", 0)
os.lseek(fd, 0, 2)
for other in range(64):
    try: os.lseek(other, 5, 0)
    except OSError: pass
`,
  ),
  attempt(
    "poison",
    "replaces what programs import",
    `
import builtins, sys, json, random, importlib
builtins.print = builtins.len = builtins.__import__ = None
sys.modules.clear()
sys.path.clear(); sys.meta_path.clear(); sys.path_hooks.clear(); sys.path_importer_cache.clear()
`,
  ),
  attempt(
    "poison",
    "changes small numbers and interned texts through the collector",
    `
import gc
for one in gc.get_objects():
    if isinstance(one, dict) and "__name__" in one:
        try: one["__name__"] = 5; one.pop("print", None)
        except Exception: pass
`,
  ),
  attempt(
    "poison",
    "leaves hooks of the interpreter behind",
    `
import sys, threading, atexit, gc
sys.settrace(lambda *a: None); sys.setprofile(lambda *a: None)
sys.monitoring.use_tool_id(3, "x"); sys.monitoring.use_tool_id(0, "y")
sys.addaudithook(lambda *a: (_ for _ in ()).throw(RuntimeError("audit")))
atexit.register(print, "late")
`,
  ),
  attempt(
    "poison",
    "changes where the working folder is, and the mask of files",
    `
import os
os.umask(0)
try: os.chdir("/lib")
except OSError: pass
`,
  ),
  attempt(
    "poison",
    "changes the zone of time and the locale",
    `
import os, time, locale
os.environ["TZ"] = "Asia/Tokyo"; time.tzset()
try: locale.setlocale(locale.LC_ALL, "C.UTF-8")
except Exception: pass
`,
  ),
  attempt(
    "poison",
    "leaves in the middle of C that calls Python",
    `import os\nsorted([3, 1, 2], key=lambda x: os._exit(0))`,
  ),
  attempt(
    "poison",
    "leaves out of a deep recursion in C",
    `
import os, json, sys
sys.setrecursionlimit(10**6)
class D(dict):
    def items(self): os._exit(0)
x = D(a=1)
for _ in range(300): x = [x]
json.dumps(x); os._exit(0)
`,
  ),
  attempt(
    "poison",
    "spoils its own memory by a broken code object",
    `
def f(): pass
f.__code__ = f.__code__.replace(co_code=bytes([100, 255] * 40 + [83, 0]), co_consts=(), co_stacksize=1)
f()
`,
  ),
  attempt(
    "poison",
    "recurses in C until the stack is used up",
    `
import sys
sys.setrecursionlimit(10**9)
x = []
for _ in range(10**6): x = [x]
repr(x)
`,
  ),
  attempt(
    "poison",
    "raises the alarm later",
    `import signal\nsignal.alarm(1); signal.setitimer(signal.ITIMER_REAL, 0.1)`,
  ),
  attempt(
    "poison",
    "takes memory up to its limit, so that the next has more than it may",
    `
x = []
try:
    while True: x.append(bytearray(1 << 20))
except MemoryError: pass
`,
  ),
  attempt(
    "exhaust",
    "writes without end on the descriptor of the harness",
    `
import os
b = b"x" * 1000000
while True: os.write(1000, b)
`,
  ),
  attempt(
    "exhaust",
    "writes without end on the descriptor of questions",
    `
import os
b = b"x" * 1000000
while True: os.write(1001, b)
`,
  ),
  attempt(
    "exhaust",
    "prints bytes one at a time",
    `
import os
while True: os.write(1, b"x")
`,
  ),
  attempt(
    "exhaust",
    "asks without end",
    `
import os
for _ in range(2000): os.read(1001, 4)
while True: os.read(1001, 4)
`,
  ),
  attempt(
    "exhaust",
    "opens files in a loop without closing",
    `
import zipimport, io
kept = []
while True: kept.append(io.FileIO("/lib/python314.zip"))
`,
  ),
  attempt("exhaust", "computes in C without end", `(9 ** 9 ** 8) % 7`),
  attempt(
    "exhaust",
    "holds on to whatever interrupts it",
    `
while True:
    try:
        while True: pass
    except BaseException: pass
`,
  ),
  attempt("exhaust", "makes a text of a gigabyte", `x = "a" * (1 << 30)\nprint("PASSED")`),
  attempt("exhaust", "raises an error of many megabytes", `raise ValueError("x" * (20 << 20))`),
];
