/** Python programs that try to spoil what comes after them, or to take more than they may. */
import type { Attempt } from "./attempt.ts";

const attempt = (kind: Attempt["kind"], tries: string, code: string): Attempt => ({
  name: `python: ${tries}`,
  tries,
  kind,
  language: "python",
  code,
});

export const spoils: readonly Attempt[] = [
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
    "duplicates descriptors, and changes the flags of those that all have",
    `
import fcntl, os
for fd in (0, 1, 2):
    fcntl.fcntl(fd, fcntl.F_SETFL, os.O_WRONLY | os.O_NONBLOCK | os.O_APPEND)
try:
    while True: fcntl.fcntl(0, fcntl.F_DUPFD, 0)
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
