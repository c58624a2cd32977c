/**
 * Python programs that try to leave, to read, to spoil what comes after them, or to take more than they may. One that gets what it
 * wants prints PASSED.
 */
import type { Attempt } from "./attempt.ts";
import { spoils } from "./pythonSpoils.ts";

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
    "converts values with a converter of the bridge, which the collector knows how to make",
    `
import gc
for make in gc.get_objects():
    if getattr(make, "__name__", "") != "create_promise_converter": continue
    for value in (None, 3, "x", b"x", [], {}, make, object()):
        try: print("PASSED", make(None).js2py_convert(value))
        except TypeError: pass
raise TypeError("nothing is converted")
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
  ...spoils,
];
