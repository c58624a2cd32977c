/** What runs in the interpreter around a program. */
import type { SandboxProgram } from "../sandbox.ts";
import { serve } from "./serve.ts";

/** Modules that programs import: loaded once, so that each program begins with them at hand. */
const common = [
  "abc, array, asyncio, base64, bisect, calendar, cmath, collections, collections.abc, contextlib, copy, csv, dataclasses",
  "datetime, decimal, enum, fractions, functools, hashlib, heapq, inspect, io, itertools, json, linecache, math, numbers",
  "operator, os, os.path, pprint, queue, random, re, statistics, string, struct, sys, textwrap, threading, time",
  "traceback, types, typing, unicodedata, unittest, zoneinfo",
];

export const imports = common.map((names) => `import ${names}`).join("\n");

/**
 * The bridge to JavaScript goes; what would ask for a process or wait in C is replaced; \`__gradus_run__\` runs one program
 * and tells on descriptor 1000 how it ended.
 */
export const harness = `
import asyncio, builtins, io, json, linecache, os, sys, threading, time, traceback, types, warnings
warnings.filterwarnings('ignore', category=DeprecationWarning)

def _prepare():
    def is_bridge(name):
        return name.split(".")[0] in ("js", "pyodide", "_pyodide", "pyodide_js", "_pyodide_core", "ctypes", "_ctypes", "_posixsubprocess")
    for name in [name for name in sys.modules if is_bridge(name)]:
        del sys.modules[name]
    # What is left of them is Python alone, and no use.
    for name in ("js", "pyodide", "_pyodide", "pyodide_js", "ctypes"):
        sys.modules[name] = None
    sys.meta_path[:] = [one for one in sys.meta_path if getattr(one, "__module__", getattr(type(one), "__module__", "")).startswith(("_frozen", "importlib", "builtins", "zipimport"))]
    sys.path[:] = [path for path in sys.path if path.startswith("/lib") and path.endswith(".zip")]
    sys.argv[:] = ["program.py"]
    sys.excepthook = sys.__excepthook__
    os.environ.clear()

    class Refused(PermissionError):
        pass

    def refuse(*_args, **_named):
        raise Refused("there are no processes here")
    for name in ("system", "popen", "fork", "forkpty", "posix_spawn", "posix_spawnp", "execv", "execve", "kill"):
        if hasattr(os, name):
            setattr(os, name, refuse)
    import subprocess
    subprocess._can_fork_exec = True
    subprocess._fork_exec = refuse

    monotonic = time.monotonic
    def sleep(seconds):
        if seconds < 0:
            raise ValueError("sleep length must be non-negative")
        until = monotonic() + seconds
        while monotonic() < until:
            pass
    sleep.__module__ = "time"
    time.sleep = sleep

    class _Nothing:
        def register(self, *_args): pass
        def unregister(self, *_args): pass
        def get_map(self): return {}
        def close(self): pass
        def select(self, timeout=None):
            if timeout is None or timeout > 0:
                sleep(3600 if timeout is None else timeout)
            return []

    class Loop(asyncio.base_events.BaseEventLoop):
        def __init__(self):
            super().__init__()
            self._selector = _Nothing()
        def _process_events(self, _events): pass
        def _write_to_self(self): pass
    class Policy(asyncio.DefaultEventLoopPolicy):
        def new_event_loop(self):
            return Loop()
    asyncio.run = asyncio.runners.run
    asyncio.events._set_running_loop(None)
    asyncio.events._event_loop_policy = Policy()

    # A thread runs to its end where it is started: what programs for contests do to have a larger stack.
    def start(self):
        if self._started.is_set():
            raise RuntimeError("threads can only be started once")
        self._started.set()
        try:
            self.run()
        except SystemExit:
            pass
        except Exception:
            self._invoke_excepthook(self)
    def join(self, timeout=None):
        if not self._started.is_set():
            raise RuntimeError("cannot join thread before it is started")
    threading.Thread.start = start
    threading.Thread.join = join
    threading.Thread.is_alive = lambda self: False
    threading.stack_size = lambda _size=0: 0

    def stream(fd, mode, kind):
        raw = io.FileIO(fd, mode, closefd=False)
        whole = io.BufferedReader(raw) if mode == "r" else io.BufferedWriter(raw, 1 << 16)
        return io.TextIOWrapper(whole, encoding="utf-8", errors=kind, newline=None if mode == "r" else "\\n")
    sys.stdin = sys.__stdin__ = stream(0, "r", "surrogateescape")
    sys.stdout = sys.__stdout__ = stream(1, "w", "backslashreplace")
    sys.stderr = sys.__stderr__ = stream(2, "w", "backslashreplace")
    sys.setrecursionlimit(1000)
_prepare()
del _prepare
warnings.resetwarnings()

def _make_ask():
    read, write, from_bytes = os.read, os.write, int.from_bytes

    def ask(text):
        """Asks whoever runs the program, and waits. None: nobody answers any more."""
        left = memoryview(text.encode("utf-8", "backslashreplace"))
        while left:
            left = left[write(1001, left):]
        length = from_bytes(read(1001, 4), "little")
        if length == 0xffffffff:
            return None
        parts = []
        while length > 0:
            part = read(1001, length)
            parts.append(part)
            length -= len_(part)
        return b"".join(parts).decode()
    len_ = len
    return ask

${serve}
def _make_run(ask):
    # What a program may rebind is taken beforehand.
    compile_, exec_, isinstance_, str_, repr_, type_ = compile, exec, isinstance, str, repr, type
    BaseException_, SystemExit_, MemoryError_, SyntaxError_, OSError_ = BaseException, SystemExit, MemoryError, SyntaxError, OSError
    dumps, write, Module, modules, cache = json.dumps, os.write, types.ModuleType, sys.modules, linecache.cache
    out, err, format_ = sys.stdout, sys.stderr, traceback.TracebackException
    monitoring, expression = sys.monitoring, __import__("ast")
    file = "program.py"

    def watch(lines):
        def seen(code, line):
            if code.co_filename == file:
                lines.add(line)
            return monitoring.DISABLE
        monitoring.use_tool_id(3, "gradus")
        monitoring.register_callback(3, monitoring.events.LINE, seen)
        monitoring.set_events(3, monitoring.events.LINE)

    def line_of(error):
        if isinstance_(error, SyntaxError_) and error.filename == file:
            return error.lineno
        line, frame = None, error.__traceback__
        while frame is not None:
            if frame.tb_frame.f_code.co_filename == file:
                line = frame.tb_lineno
            frame = frame.tb_next
        return line

    def report_of(error):
        kind = "memory" if isinstance_(error, MemoryError_) else "exception"
        try:
            frame = error.__traceback__
            while frame is not None and frame.tb_frame.f_code.co_filename != file:
                frame = frame.tb_next
            report = format_(type_(error), error, frame)
            text = "".join(report.format())
            last = [*report.format_exception_only()][-1].strip()
        except BaseException_:
            text = last = type_(error).__name__
        try:
            err.write(text)
        except BaseException_:
            pass
        return {"kind": kind, "name": type_(error).__name__, "message": last, "line": line_of(error), "os": isinstance_(error, OSError_)}

    def lines_of(code):
        own = {line for _start, _end, line in code.co_lines() if line}
        for one in code.co_consts:
            if isinstance_(one, types_code):
                own |= lines_of(one)
        return own

    def whole(code, scope):
        exec_(compile_(code, file, "exec"), scope)

    def valued(code, scope):
        tree = expression.parse(code, file)
        if not tree.body or not isinstance_(tree.body[-1], expression.Expr):
            exec_(compile_(tree, file, "exec"), scope)
            return None
        last = expression.Expression(tree.body.pop().value)
        exec_(compile_(tree, file, "exec"), scope)
        value = eval(compile_(last, file, "eval"), scope)
        return None if value is None else repr_(value)

    serve = _make_serve(ask, line_of)

    def run(code, watched, asked, served):
        main = Module("__main__")
        modules["__main__"] = main
        scope = main.__dict__
        scope["__builtins__"] = builtins
        cache[file] = (len(code), None, code.splitlines(True), file)
        said = {}
        lines = set()
        if watched:
            watch(lines)
        try:
            if asked:
                value = valued(code, scope)
                if value is not None:
                    said["value"] = value
            else:
                whole(code, scope)
                if served:
                    serve(scope)
        except SystemExit_ as error:
            if error.code not in (None, 0, False):
                said["failure"] = {"kind": "exception", "name": "SystemExit", "message": "left with " + str_(error.code), "line": line_of(error)}
        except BaseException_ as error:
            said["failure"] = report_of(error)
        if watched:
            monitoring.set_events(3, 0)
            said["lines"] = sorted_(lines)
            try:
                said["missed"] = sorted_(lines_of(compile_(code, file, "exec")) - lines)
            except BaseException_:
                pass
        for stream in {id_(one): one for one in (sys.stdout, sys.stderr, out, err)}.values():
            try:
                stream.flush()
            except BaseException_:
                pass
        write(1000, dumps(said).encode())
    sorted_, id_, types_code = sorted, id, types.CodeType
    return run
__gradus_run__ = _make_run(_make_ask())
del _make_run, _make_ask, _make_serve, _make_crossing
`;

/** JSON's texts are Python's, too. */
export const call = ({ code, lines, value, serve }: SandboxProgram): string =>
  `__gradus_run__(${JSON.stringify(code)}, ${[lines, value, serve].map((one) => (one === true ? "True" : "False")).join(", ")})`;
