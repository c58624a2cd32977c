"""The process in which a user's Python reward runs: one file, the standard library alone, CPython 3.8 or later.

It reads frames from file descriptor 3 and writes frames to 4 (u32 little-endian length, then JSON in UTF-8); stdin,
stdout and stderr are the user's. The function runs on the main thread, where signal.alarm works, and may start
processes of its own: they end with this one. It may be killed at any moment and holds nothing worth keeping.

  {"kind": "load", "file", "text", "name"} -> {"kind": "loaded", "parameters", ...} or {"kind": "refused", "message"}
  {"kind": "rows", "id", "rows": [keywords], "first", "together", "seconds"}   one call a rollout
  {"kind": "batch", "id", "columns": {name: list}, "shared", "made", "count", "each"}   one call for all
     -> {"id", "at", "value", "components"} or {"id", "at", "error"} for each, then {"id", "done"}
  {"kind": "reached"}   of a function that was loaded with "cover": what its calls reached since the last such question
     -> {"kind": "reached", "rollouts", "files": [{"file", "lines", "branches"}], "returned"}
"""
import ast
import builtins
import copy
import functools
import importlib
import importlib.machinery
import inspect
import json
import math
import os
import select
import signal
import struct
import sys
import threading
import types

MARK = "GRADUS_REWARD_MARK"
# What processes that multiprocessing spawns are told: the module's name, and its file with the wanted function.
MODULE, FILE = "GRADUS_REWARD_MODULE", "GRADUS_REWARD_FILE"
# Characters of a value, and of an exception's text, that a message shows.
SHOWN, TEXT = 120, 4000
owner = os.getpid()


# ---- frames -------------------------------------------------------------------------------------------------------


def send(message):
    write(json.dumps(message).encode())


def write(data):
    data = struct.pack("<I", len(data)) + data
    while data:
        data = data[os.write(4, data) :]


def receive(stream):
    head = stream.read(4)
    if len(head) < 4:
        end()
    return json.loads(stream.read(struct.unpack("<I", head)[0]))


# ---- the end of this process with all that it started ---------------------------------------------------------------


def descendants(leader, mark):
    """Processes with the mark, and those of the leader's session that took another environment. Linux shows them."""
    wanted = ("%s=%s" % (MARK, mark)).encode()
    for name in os.listdir("/proc") if os.path.exists("/proc/self/environ") else []:
        if not name.isdigit() or int(name) == os.getpid():
            continue
        try:
            with open("/proc/%s/stat" % name) as file:
                fields = file.read().rsplit(")", 1)[1].split()
            with open("/proc/%s/environ" % name, "rb") as file:
                environment = file.read().split(b"\0")
        except (OSError, IndexError):
            continue  # ended while it was looked at, or another user's
        if fields[0] not in "ZX" and (int(fields[3]) == leader or wanted in environment):
            yield int(name)


def end_all(leader):
    for _ in range(5):
        left = list(descendants(leader, os.environ.get(MARK, "")))
        for pid in left:
            try:
                os.kill(pid, signal.SIGKILL)
            except OSError:
                pass  # it has ended meanwhile
        if not left:
            break
    os.killpg(leader, signal.SIGKILL)


def end_tree():
    """Windows has no groups: its own program ends a process with what it has started."""
    import subprocess  # slow to import, and seldom needed

    program = os.path.join(os.environ.get("SystemRoot", "C:\\Windows"), "System32", "taskkill.exe")
    flags = getattr(subprocess, "CREATE_NO_WINDOW", 0)
    try:
        subprocess.call([program, "/T", "/F", "/PID", str(os.getpid())], creationflags=flags)
    except OSError:
        pass  # there is no such program: this process ends alone


def end():
    if os.name == "nt":
        end_tree()
    elif os.getpgid(0) == owner:
        end_all(owner)
    os._exit(1)


def watch_parent():
    """A process of its own: a function that never returns, inside C at that, leaves no thread here any time."""
    parent = os.getppid()
    if not hasattr(os, "fork"):
        threading.Thread(target=watch_by_thread, args=(parent,), daemon=True).start()
        return
    if os.getpgid(0) != owner:
        return  # started by hand
    child = os.fork()
    if child != 0:
        os.waitpid(child, 0)
        return
    if os.fork() != 0:
        os._exit(0)  # so that the user's os.wait() does not meet it
    for fd in (0, 1, 2, 4):
        os.close(fd)
    poll = select.poll()
    poll.register(3, 0)
    while True:
        gone = bool(poll.poll(500)) or not lives(parent)
        if not lives(owner):
            os._exit(0)
        if gone:
            end_all(owner)
            os._exit(0)


def lives(pid):
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except OSError:
        pass  # another user's
    return True


def watch_by_thread(parent):
    """On Windows the number of a parent that is gone stays, so its end is waited for."""
    import ctypes

    kernel = ctypes.WinDLL("kernel32")
    kernel.OpenProcess.restype = ctypes.c_void_p
    synchronize, forever = 0x100000, 0xFFFFFFFF
    parent = kernel.OpenProcess(synchronize, False, parent)
    kernel.WaitForSingleObject(ctypes.c_void_p(parent), forever)
    end()


# ---- loading --------------------------------------------------------------------------------------------------------


class Refused(Exception):
    pass


class Elsewhere:
    """Finds the installed package of the name that the file itself has: `math_verify.py` imports `math_verify`."""

    stem = ""

    @classmethod
    def find_spec(cls, name, path=None, target=None):
        if name != cls.stem or path is not None:
            return None
        return importlib.machinery.PathFinder.find_spec(name, sys.path[1:])


# A user's folder may hold a whole Python: its environment, or below a home folder all that is installed there.
LIBRARY = os.path.join(os.path.dirname(os.path.abspath(os.__file__)), "")


def is_own(path, folder):
    """Whether a file is the user's."""
    path = os.path.abspath(path)
    installed = "site-packages" in path or "dist-packages" in path or path.startswith(LIBRARY)
    return path.startswith(os.path.join(folder, "")) and not installed


def forget(folder):
    """What an earlier text has imported from its folder is read again."""
    for name, module in list(sys.modules.items()):
        file = getattr(module, "__file__", None)
        if name != "__main__" and isinstance(file, str) and is_own(file, folder):
            del sys.modules[name]
    importlib.invalidate_caches()


def module_of(file, tree):
    """An empty module that has the names which Python gives a file; in its package, where it imports from it."""
    folder, stem = os.path.dirname(file), os.path.splitext(os.path.basename(file))[0]
    Elsewhere.stem = ""
    package = os.path.basename(folder)
    if any(isinstance(node, ast.ImportFrom) and node.level > 0 for node in ast.walk(tree)):
        outer = types.ModuleType(package)
        outer.__path__ = [folder]
        sys.modules[package] = outer
        name = package if stem == "__init__" else "%s.%s" % (package, stem)
        module = outer if stem == "__init__" else types.ModuleType(name)
        module.__package__ = package
    else:
        try:
            other = stem in sys.builtin_module_names or stem in sys.modules
            other = other or importlib.machinery.PathFinder.find_spec(stem, sys.path[1:]) is not None
        except (ImportError, ValueError):
            other = False
        Elsewhere.stem = stem if other else ""
        name = "reward_" + stem if other else stem
        module = types.ModuleType(name)
        module.__package__ = ""
    module.__file__ = file
    sys.modules[name] = module
    os.environ[MODULE] = name
    return module


class Child:
    """In a process that multiprocessing has spawned: the module is loaded here as the host has loaded it."""

    @classmethod
    def find_spec(cls, name, path=None, target=None):
        return importlib.machinery.ModuleSpec(name, cls) if name == os.environ.get(MODULE) else None

    @staticmethod
    def create_module(spec):
        file, wanted = os.environ[FILE].rsplit(":", 1)
        with open(file, encoding="utf-8") as stream:
            load({"file": file, "text": stream.read(), "name": wanted})
        return sys.modules[spec.name]

    @staticmethod
    def exec_module(module):
        pass


def load(message):
    file, text, name = message["file"], message["text"], message["name"]
    folder = os.path.dirname(file)
    sys.path[0] = folder
    sys.argv[:] = [file]
    os.environ[FILE] = "%s:%s" % (file, name)
    forget(folder)
    Covered.now = Covered(folder) if message.get("cover") else None
    try:
        tree = ast.parse(text, file)
    except SyntaxError as error:
        raise Refused("it does not parse: %s (%s:%s)" % (error.msg, os.path.basename(file), error.lineno))
    except ValueError as error:
        raise Refused("it does not parse: %s" % error)
    root, *inner = name.split(".")
    module = run(tree, file, root)
    found = module.__dict__.get(root)
    if found is None:
        names = [each for each, value in module.__dict__.items() if callable(value) and not each.startswith("_")]
        raise Refused("it has no function `%s` (it has %s)" % (name, ", ".join(names[:20]) or "none"))
    found = method_of(found, inner[0]) if inner else scored_by_verifiers(found)
    if not callable(found):
        raise Refused("its `%s` is %s, not a function" % (name, described(found)))
    function = Function(found, folder)
    if Covered.now is not None:
        function.call = Covered.now.counted(found, function.is_async())
    return function


def run(tree, file, wanted):
    """The file as a module; of a training script, of a notebook, or where a package is absent, what the function reads."""
    shaken = ast.Module(definitions(tree.body, wanted), [])
    # Cells are run by hand, one by one: a notebook may do anything as a whole.
    bodies = [shaken] if file.endswith(".ipynb") or trains(tree.body) else [tree, shaken]
    refused = None
    for body in bodies:
        module = module_of(file, tree)
        try:
            code = body if Covered.now is None else Covered.now.marked(body, file)
            exec(compile(code, file, "exec"), module.__dict__)
            return module
        except ModuleNotFoundError as error:
            # The function may need nothing of it: a script imports its trainer, too.
            refused = refused or Refused("loading it %s" % thrown(error, os.path.dirname(file)))
        except BaseException as error:
            raise refused or Refused("loading it %s" % thrown(error, os.path.dirname(file)))
    raise refused


# ---- a training script: what the function reads of it, and nothing else -----------------------------------------------


def calls_in(nodes):
    """Calls that run with the statements: not those in functions that they define."""
    for node in nodes:
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
            continue
        if isinstance(node, ast.Call):
            yield node
        yield from calls_in(ast.iter_child_nodes(node))


def is_main_guard(node):
    return isinstance(node, ast.If) and any(
        isinstance(each, ast.Name) and each.id == "__name__" for each in ast.walk(node.test)
    )


def trains(body):
    """Whether the statements call `.train()`, or a function of theirs that does."""
    functions = {node.name: node for node in body if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))}
    seen = set()

    def calls_train(nodes):
        for call in calls_in(nodes):
            if isinstance(call.func, ast.Attribute) and call.func.attr == "train":
                return True
            name = getattr(call.func, "id", None)
            if name in functions and name not in seen:
                seen.add(name)
                if calls_train(functions[name].body):
                    return True
        return False

    return calls_train([node for node in body if not is_main_guard(node)])


def root_of(target):
    """`TABLE` of `TABLE["key"] = 1`."""
    while isinstance(target, (ast.Attribute, ast.Subscript)):
        target = target.value
    return getattr(target, "id", None)


def bound_by(node):
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        return {node.name}
    names = {root_of(each) for each in getattr(node, "targets", [getattr(node, "target", None)])} - {None}
    for each in ast.walk(node):
        if isinstance(each, (ast.Import, ast.ImportFrom)):
            names.update((alias.asname or alias.name.split(".")[0]) for alias in each.names)
        elif isinstance(each, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            names.add(each.name)
        elif isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store):
            names.add(each.id)
    return names


def is_setting(node):
    """`sys.path.append(…)`, `os.environ["NAME"] = "text"`: what imports and calls may depend on."""
    targets = node.targets if isinstance(node, ast.Assign) else [getattr(getattr(node, "value", None), "func", None)]
    roots = [each.value for each in targets if isinstance(each, (ast.Attribute, ast.Subscript))]
    return any(
        isinstance(root, ast.Attribute)
        and isinstance(root.value, ast.Name)
        and (root.value.id, root.attr) in (("sys", "path"), ("os", "environ"))
        for root in roots
    )


def apart(body):
    """`import re, torch` as two statements: a function that reads one of them needs no other."""
    for node in body:
        if isinstance(node, ast.Import) and len(node.names) > 1:
            for each in node.names:
                yield ast.copy_location(ast.Import([each]), node)
        else:
            yield node


def definitions(body, wanted):
    """Imports, definitions and assignments that the wanted function reads, and those that they read."""
    kept = [
        node
        for node in apart(body)
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef))
        or is_setting(node)
        or not (isinstance(node, ast.Expr) or is_main_guard(node) or trains([node]))
    ]
    reads = {
        id(node): {each.id for each in ast.walk(node) if isinstance(each, ast.Name)} for node in kept
    }
    star = [node for node in kept if isinstance(node, ast.ImportFrom) and node.names[0].name == "*"]
    chosen = [node for node in kept if is_setting(node)] + star
    needed = {wanted}.union(*(reads[id(node)] for node in chosen))
    size = -1
    while size != len(needed):
        size = len(needed)
        for node in kept:
            if bound_by(node) & needed:
                needed |= reads[id(node)]

    def is_needed(node):
        future = isinstance(node, ast.ImportFrom) and node.module == "__future__"
        return future or node in chosen or bool(bound_by(node) & needed)

    return [node for node in kept if is_needed(node)]


# ---- coverage: which lines and branches of the user's functions a call reaches ------------------------------------------

MARKS = ("__gradus_line__", "__gradus_return__")
LOOPS = (ast.For, ast.AsyncFor, ast.While)
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)


class Covered:
    """Marks in the text itself, so that each call is known by itself on every Python, in threads and loops as well.

    Of a file only what is in functions is marked: the rest runs once, when it is loaded, whatever a rollout says.
    """

    now = None

    def __init__(self, folder):
        self.folder = folder
        self.numbers, self.places = {}, []
        self.seen, self.loading, self.counts = set(), None, {}
        self.rollouts, self.last = 0, None
        # The names that the marks call are found wherever a function comes from.
        builtins.__dict__.update(zip(MARKS, (self.seen.add, self.returned)))

    def number(self, *place):
        if place not in self.numbers:
            self.numbers[place] = len(self.places)
            self.places.append(place)
        return self.numbers[place]

    def returned(self, number, value):
        self.last = number
        return value

    def marked(self, body, file):
        # An earlier try may have read more of the file.
        for place in [each for each in self.numbers if each[1] == file]:
            self.places[self.numbers.pop(place)] = ("return", file, 0)
        return ast.fix_missing_locations(Marks(self, file, body).visit(copy.deepcopy(body)))

    def counted(self, call, is_async):
        """The function, so that each of its calls is counted as one rollout's."""
        self.loading = set(self.seen)

        def begin():
            self.seen.clear()
            self.last = None

        def end():
            self.rollouts += 1
            for number in self.seen:
                self.counts[number] = self.counts.get(number, 0) + 1

        async def waiting(**keywords):
            begin()
            try:
                return await call(**keywords)
            finally:
                end()

        def calling(**keywords):
            begin()
            try:
                return waited(call(**keywords))
            finally:
                end()

        return functools.update_wrapper(waiting if is_async else calling, call, updated=())

    def reached(self):
        """What was counted since this was asked last. Lines count from 1, columns from 0."""
        files = {}
        for number, (what, file, *place) in enumerate(self.places):
            count = self.counts.get(number, 0)
            if what == "return" or (count == 0 and number in self.loading):
                continue  # what only loading runs, no rollout can reach
            own = files.setdefault(file, {"file": file, "lines": [], "branches": []})
            own["lines" if what == "line" else "branches"].append([*place, count])
        last = None if self.last is None else self.places[self.last][1:]
        rollouts, self.rollouts, self.counts = self.rollouts, 0, {}
        return {"kind": "reached", "rollouts": rollouts, "files": list(files.values()), "returned": last}


class Marks(ast.NodeTransformer):
    """Puts the marks into one file's functions."""

    def __init__(self, covered, file, body):
        self.covered, self.file = covered, file
        self.inside = False
        self.functions = {each.name for each in ast.walk(body) if isinstance(each, FUNCTIONS[:2])}

    def mark(self, *place):
        number = ast.Constant(self.covered.number(place[0], self.file, *place[1:]))
        return ast.Call(ast.Name(MARKS[0], ast.Load()), [number], [])

    def exit(self, node, kind, name):
        return self.mark("branch", node.lineno, node.col_offset, kind, name)

    def generic_visit(self, node):
        for name, value in ast.iter_fields(node):
            if isinstance(value, list) and value and isinstance(value[0], ast.stmt) and self.inside:
                setattr(node, name, self.statements(value))
            elif isinstance(value, (list, ast.AST)):
                self.visit_field(node, name, value)
        return node

    def visit_field(self, node, name, value):
        if isinstance(value, list):
            value[:] = [self.visit(each) if isinstance(each, ast.AST) else each for each in value]
        else:
            setattr(node, name, self.visit(value))

    def statements(self, body):
        found = []
        for node in body:
            value = getattr(node, "value", node)
            text = isinstance(node, ast.Expr) and isinstance(getattr(value, "value", None), str)
            if not (text or value is None or isinstance(node, (ast.Global, ast.Nonlocal))):
                found.append(ast.copy_location(ast.Expr(self.mark("line", node.lineno)), node))
            found.append(self.visit(node))
        return found

    def visit_FunctionDef(self, node):
        # Decorators, defaults and annotations belong to what is around it.
        for name, value in ast.iter_fields(node):
            if name != "body" and isinstance(value, (list, ast.AST)):
                self.visit_field(node, name, value)
        outer, self.inside = self.inside, True
        node.body = self.statements(node.body)
        self.inside = outer
        return node

    visit_AsyncFunctionDef = visit_FunctionDef

    def visit_Lambda(self, node):
        outer, self.inside = self.inside, True
        line, body = self.mark("line", node.body.lineno), node.body
        node.body = ast.BoolOp(ast.Or(), [line, self.result(body, self.visit(body))])
        self.inside = outer
        return node

    def result(self, before, value):
        """A returned value; that of another function of this file is marked where that one returns it."""
        inner = before.elt if isinstance(before, ast.ListComp) else before
        inner = inner.value if isinstance(inner, ast.Await) else inner
        if isinstance(inner, ast.Call) and self.is_here(inner.func):
            return value
        number = ast.Constant(self.covered.number("return", self.file, before.lineno))
        return ast.Call(ast.Name(MARKS[1], ast.Load()), [number, value], [])

    def is_here(self, function):
        if isinstance(function, ast.Attribute):
            return getattr(function.value, "id", None) in ("self", "cls") and function.attr in self.functions
        return getattr(function, "id", None) in self.functions

    def visit_Return(self, node):
        if node.value is not None:
            line = node.lineno
            node.value = self.result(ast.copy_location(copy.copy(node.value), node), self.visit(node.value))
        return node

    def visit_IfExp(self, node):
        if not self.inside:
            return node
        marks = [self.exit(node, "conditional", name) for name in ("then", "else")]
        self.generic_visit(node)
        node.body = ast.BoolOp(ast.Or(), [marks[0], node.body])
        node.orelse = ast.BoolOp(ast.Or(), [marks[1], node.orelse])
        return node

    def visit_branching(self, node):
        if not self.inside:
            return self.generic_visit(node)
        names = ("then", "else") if isinstance(node, ast.If) else ("body", "end")
        kind = "if" if isinstance(node, ast.If) else "while" if isinstance(node, ast.While) else "for"
        endless = isinstance(node, ast.While) and isinstance(node.test, ast.Constant) and bool(node.test.value)
        marks = [ast.Expr(self.exit(node, kind, name)) for name in names[: 1 if endless else 2]]
        self.generic_visit(node)
        for mark, body in zip(marks, (node.body, node.orelse)):
            body.insert(0, mark)
        return node

    visit_If = visit_For = visit_AsyncFor = visit_While = visit_branching


class CoveredLoader(importlib.machinery.SourceFileLoader):
    """Of the user's other files: marked as well, and read as text even where Python has compiled them before."""

    def get_code(self, fullname):
        path = self.get_filename(fullname)
        tree = ast.parse(self.get_data(path), path)
        return compile(Covered.now.marked(tree, path), path, "exec", dont_inherit=True)


class CoveredFinder:
    @staticmethod
    def find_spec(name, path=None, target=None):
        if Covered.now is None:
            return None
        spec = importlib.machinery.PathFinder.find_spec(name, path)
        if spec is None or type(spec.loader) is not importlib.machinery.SourceFileLoader:
            return None
        if is_own(spec.origin, Covered.now.folder):
            spec.loader = CoveredLoader(spec.loader.name, spec.loader.path)
            return spec
        return None


def imports(file, wanted):
    """Whether this Python finds each package that the function needs of the file's imports. Nothing is run."""
    sys.path[0] = os.path.dirname(file)
    with open(file, encoding="utf-8") as stream:
        body = definitions(ast.parse(stream.read(), file).body, wanted.split(".")[0])
    names = set()
    for node in body:
        if isinstance(node, ast.Import):
            names.update(alias.name.split(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
            names.add(node.module.split(".")[0])
    found = {}
    for name in sorted(names - {"__future__"}):
        if name in sys.builtin_module_names or name in sys.modules:
            continue
        # The file's own name is not meant: `math_verify.py` imports `math_verify`.
        path = sys.path[1:] if name == os.path.splitext(os.path.basename(file))[0] else sys.path
        found[name] = importlib.machinery.PathFinder.find_spec(name, path) is not None
    return {"version": "%d.%d.%d" % sys.version_info[:3], "found": found}


# ---- results --------------------------------------------------------------------------------------------------------


class Wrong(Exception):
    """A returned value that is none; the text says what came."""


def described(value):
    if isinstance(value, str):
        return "the string %s" % json.dumps(value[:SHOWN], ensure_ascii=False)
    if inspect.isgenerator(value) or inspect.isasyncgen(value):
        return "a generator"
    if type(value) is int and value.bit_length() > 1000:
        return "an int of %d bits" % value.bit_length()
    if callable(value) and hasattr(value, "__name__"):
        return "the function %s" % value.__name__
    try:
        return "%s %s" % (type(value).__name__, repr(value)[:SHOWN])
    except Exception as error:  # of the user's __repr__
        return "a %s that can't be shown (%s)" % (type(value).__name__, error)


FORMS = "a number, None, or a dict with `score`"


def finite(value):
    value = float(value)
    if math.isfinite(value):
        return value
    raise Wrong("returned %s, which is not a finite number" % value)


def unwrapped(value):
    """numpy's scalars and arrays, tensors: known by what they can do, since their packages may be absent."""
    if callable(getattr(value, "tolist", None)):
        value = value.tolist()
        while isinstance(value, list) and len(value) == 1:
            value = value[0]
    elif callable(getattr(value, "item", None)):
        value = value.item()
    return value


def plain(value, forms=FORMS):
    """A float, or None: the reward does not apply."""
    if value is None:
        return None
    kind = type(value)
    if kind is float and -1e308 < value < 1e308:
        return value
    if kind is float or kind is bool or (kind is int and abs(value) < 1 << 1000):
        return finite(value)
    if kind is not int and not isinstance(value, (str, bytes, dict, list, tuple)):
        try:
            inner = unwrapped(value)
            if inner is None or isinstance(inner, (bool, int, float)) or hasattr(inner, "__float__"):
                return None if inner is None else finite(inner)
        except (TypeError, ValueError, RuntimeError, OverflowError):
            pass
    raise Wrong("returned %s; it must return %s" % (described(value), forms))


def result(value, first=False):
    """A returned value as (value, components)."""
    if first and isinstance(value, tuple) and value:
        value = value[0]  # verl: (score, metadata)
    if not isinstance(value, dict):
        return plain(value), None
    if "score" not in value:
        raise Wrong("returned a dict without `score`; it has %s" % (", ".join(map(repr, value)) or "no keys"))
    return plain(value["score"]), numbers({key: each for key, each in value.items() if key != "score"})


def numbers(values):
    """Of a dict, what is a finite number."""
    found = {}
    for key, value in values.items():
        if isinstance(value, (str, bytes, dict, list, tuple, type(None))):
            continue
        try:
            found[str(key)] = plain(value)
        except Wrong:
            continue
    return {key: value for key, value in found.items() if value is not None} or None


def listed(value, count, name=None):
    """A list of as many as there are rollouts."""
    what = "" if name is None else " as `%s`" % name
    if callable(getattr(value, "tolist", None)):
        value = value.tolist()
    if isinstance(value, (list, tuple)) and len(value) == count:
        return list(value)
    if isinstance(value, (list, tuple)):
        raise Wrong("returned %d values%s for %d rollouts: %s" % (len(value), what, count, repr(value)[:SHOWN]))
    raise Wrong("returned %s%s; it must return a list with one value a rollout" % (described(value), what))


def results(value, count, logs):
    """What a call for all returned as a list of (value, components, error)."""
    if isinstance(value, dict):
        if "rewards" not in value:
            keys = ", ".join(map(repr, value)) or "no keys"
            raise Wrong("returned a dict without `rewards`; it has %s" % keys)
        for name, each in dict(value.get("extra_logs") or {}, scores=value.get("scores")).items():
            logs.add(name, each)
        value = value["rewards"]
    rows = []
    for at, each in enumerate(listed(value, count)):
        try:
            own, components = result(each)
            rows.append((own, logs.of(at, components), None))
        except Wrong as error:
            rows.append((None, None, "%s (value %d of its list)" % (error, at)))
    return rows


class Logs:
    """What a call says of its rollouts in addition to their rewards: TRL's log_extra and log_metric, extra_logs."""

    def __init__(self, count):
        self.count, self.columns = count, {}

    def add(self, name, values):
        try:
            values = listed(values, self.count)
        except Wrong:
            return
        self.columns[str(name)] = values

    def metric(self, name, value):
        self.columns[str(name)] = [value] * self.count

    def of(self, at, components):
        if not self.columns:
            return components
        own = numbers({name: values[at] for name, values in self.columns.items()})
        return dict(own or {}, **(components or {})) or None


def place_of(error, folder):
    """The last line of the user's that led there."""
    trace, last, own = error.__traceback__, None, None
    while trace is not None:
        file = trace.tb_frame.f_code.co_filename
        if file != __file__:
            last = (file, trace.tb_lineno)
            if is_own(file, folder):
                own = (os.path.relpath(file, folder), trace.tb_lineno)
        trace = trace.tb_next
    return own or last


def thrown(error, folder):
    try:
        text = str(error)[:TEXT]
    except Exception:
        text = "its text can't be shown"
    place = place_of(error, folder)
    where = "" if place is None else " (%s:%d)" % place
    return "threw %s%s%s" % (type(error).__name__, ": " + text if text else "", where)


# ---- verifiers: rewards of a trace, and rubrics ---------------------------------------------------------------------


class RuntimeNeeded(Exception):
    """A reward has asked for the sandbox that only a run of verifiers starts."""


class Runtime:
    """In the place of the sandbox: it is there for a reward that takes it and does not use it."""

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        raise RuntimeNeeded("`runtime.%s` needs the sandbox of a verifiers run, which Gradus does not start" % name)


class Record:
    """Fields by attribute. What is absent says what there is."""

    def __init__(self, title, fields):
        self.__dict__.update(fields)
        self.__dict__["_title"] = title

    def __getattr__(self, name):
        if name.startswith("_"):
            raise AttributeError(name)
        names = ", ".join(each for each in self.__dict__ if not each.startswith("_"))
        raise AttributeError("%s has no `%s` here; it has %s" % (self._title, name, names))

    def model_dump(self, **_):
        return {name: value for name, value in self.__dict__.items() if not name.startswith("_")}


def text_of(content):
    if isinstance(content, str):
        return content
    return "\n".join(part.get("text", "") for part in content or [] if isinstance(part, dict))


class TaskRecord(Record):
    def __init__(self, row):
        usual = dict.fromkeys(("idx", "id", "name", "description", "system_prompt"))
        super().__init__("the task", dict(usual, **row))

    @property
    def prompt_text(self):
        prompt = self.prompt
        return prompt if isinstance(prompt, str) else "\n\n".join(text_of(each.get("content")) for each in prompt or [])


def message_of(message):
    """A message of the package's own type where the file has loaded that."""
    known = getattr(sys.modules.get("verifiers.v1.types"), message["role"].capitalize() + "Message", None)
    if known is not None:
        try:
            return known(**message)
        except ValueError:
            pass  # pydantic's errors are ValueErrors: an observation has no tool_call_id here
    usual = {"reasoning_content": None, "tool_calls": None} if message["role"] == "assistant" else {}
    return Record("the message", dict(usual, **message))


class Trace(Record):
    """What a rollout here can say of a trace of verifiers (verifiers/v1/trace.py, 0.4): one branch, no errors."""

    def __init__(self, told, data, kind):
        messages = [(message_of(each), False) for each in told["prompt"]]
        messages += [(message_of(each), each["role"] == "assistant") for each in told["answer"]]
        nodes = [
            Record("the node", {"parent": at - 1 if at else None, "message": message, "sampled": sampled, "tools": []})
            for at, (message, sampled) in enumerate(messages)
        ]
        task = Record("trace.task", {"type": kind, "data": data, "key": told["id"], "hash": told["id"]})
        super().__init__(
            "the trace",
            {
                "id": told["id"],
                "task": task,
                "nodes": nodes,
                "messages": [message for message, _ in messages],
                "assistant_messages": [message for message, sampled in messages if sampled],
                "tool_messages": [message for message, _ in messages if message.role == "tool"],
                "num_turns": sum(sampled for _, sampled in messages),
                "num_branches": 1,
                "num_output_tokens": told["tokens"],
                "is_truncated": told["truncated"],
                "is_completed": True,
                "is_timeout": False,
                "ok": True,
                "has_error": False,
                "errors": [],
                "last_error": None,
                "stop_condition": None,
                "root_reply": None,
                "tools": [],
                "info": {},
                "metrics": {},
                "rewards": {},
                "reward": 0.0,
                "state": Record("trace.state", {"artifacts": {}}),
            },
        )

    @property
    def last_message(self):
        return self.messages[-1]

    @property
    def last_reply(self):
        said = self.assistant_messages
        return text_of(said[-1].content).strip() if said else ""

    @property
    def transcript(self):
        said = [["[%s]" % each.role] + list(filter(None, [text_of(each.content)])) for each in self.messages]
        return "\n\n".join(map("\n".join, said))

    def record_metric(self, name, value):
        self.metrics[name] = float(value)

    def record_metrics(self, values):
        for name, value in values.items():
            self.record_metric(name, value)


def parameters_of(call):
    """By name; of a built-in function there may be none to read."""
    try:
        return inspect.signature(call).parameters
    except (TypeError, ValueError):
        return {}


def taken_by(call, available):
    """Of what there is, what a function names."""
    parameters = parameters_of(call)
    if any(each.kind is each.VAR_KEYWORD for each in parameters.values()):
        return available
    return {name: value for name, value in available.items() if name in parameters}


class TraceRewards:
    """Rewards of verifiers as one function: the sum of their weighted scores, with each by its name."""

    def __init__(self, owner, names, weighted):
        self.owner, self.names, self.weighted = owner, names, weighted

    async def __call__(self, trace, task=None, runtime=None, **args):
        owner, kind = self.owner, getattr(self.owner, "__name__", "Task")
        data = TaskRecord(trace["data"]) if not isinstance(owner, type) else data_of(owner, trace["data"])
        trace = Trace(trace, data, kind)
        holder = owner(data) if isinstance(owner, type) else None
        available = dict(args, task=data, trace=trace)
        total, components = None, {}
        for name in self.names:
            call = owner if holder is None else getattr(holder, name)
            sandbox = parameters_of(call).get("runtime")
            # As verifiers does offline: one with a default is called without.
            needed = sandbox is not None and sandbox.default is sandbox.empty
            value = call(**taken_by(call, dict(available, runtime=Runtime()) if needed else available))
            if inspect.isawaitable(value):
                value = await value
            weight = getattr(call, "_vf_weight", 1.0) if self.weighted else 1.0
            keyed = value.items() if hasattr(value, "items") else [(name, value)]
            for key, each in keyed:
                each = plain(each, "a number, or a dict of numbers")
                components[str(key)] = each
                if each is not None:
                    total = (total or 0.0) + weight * each
        if len(components) == 1 and not trace.metrics:
            return total
        return dict(components, **trace.metrics, score=total)


def data_of(owner, row):
    """The row as the task class types it."""
    try:
        kind = owner.data_type()
        known = getattr(kind, "model_fields", row)
        return kind(**{name: value for name, value in row.items() if name in known and value is not None})
    except ValueError as error:
        raise Wrong("the task's data makes no %s: %s" % (kind.__name__, str(error).replace("\n", " ")))


def rewards_in(owner):
    """Names of methods with `@reward`, as verifiers orders them."""
    found = {name for each in owner.__mro__ for name, value in vars(each).items() if hasattr(value, "reward")}
    tagged = [name for name in found if getattr(getattr(owner, name), "reward", None) is True]
    return sorted(tagged, key=lambda name: (-getattr(getattr(owner, name), "reward_priority", 0), name))


def method_of(owner, name):
    if not isinstance(owner, type) or not callable(getattr(owner, name, None)):
        raise Refused("it has no method `%s` of a class" % name)
    if not callable(getattr(owner, "data_type", None)):
        raise Refused("`%s` is no Task of verifiers: name a function" % owner.__name__)
    return TraceRewards(owner, [name], False)


class Rubric:
    """A rubric of verifiers below 0.4 as one function: the sum of its weighted functions, with each by its name."""

    def __init__(self, rubric):
        self.calls, self.weights = list(rubric.funcs), list(rubric.weights)
        self.objects = dict(getattr(rubric, "class_objects", None) or {})
        for call in self.calls:
            plural = {"completions", "states", "answers", "infos"} & set(parameters_of(call))
            if plural:
                raise Refused(
                    "its `%s` scores a whole group: name it as a term of its own" % getattr(call, "__name__", call)
                )

    async def __call__(self, prompt, completion, answer, state, info, task, **fields):
        given = dict(prompt=prompt, completion=completion, answer=answer, state=state, info=info, task=task)
        total, components = 0.0, {}
        for call, weight in zip(self.calls, self.weights):
            value = call(**taken_by(call, dict(fields, **given, **self.objects)))
            if inspect.isawaitable(value):
                value = await value
            value = plain(value, "a number")
            components[getattr(call, "__name__", repr(call))] = value
            total += weight * (value or 0.0)
        return dict(components, score=total)


def scored_by_verifiers(found):
    if isinstance(found, type) and callable(getattr(found, "data_type", None)):
        names = rewards_in(found)
        if not names:
            raise Refused("its class `%s` has no method with `@reward`" % found.__name__)
        return TraceRewards(found, names, True)
    if isinstance(getattr(found, "funcs", None), list) and isinstance(getattr(found, "weights", None), list):
        return Rubric(found)
    if inspect.isroutine(found) and "trace" in parameters_of(found):
        return TraceRewards(found, [found.__name__], False)
    return found


# ---- calls ----------------------------------------------------------------------------------------------------------

loop = None


def waited(value):
    """The result of what the function returned: a coroutine is run to its end."""
    global loop
    if not inspect.isawaitable(value):
        return value
    import asyncio  # slow to import, and seldom needed

    if loop is None or loop.is_closed():
        loop = asyncio.new_event_loop()
        asyncio.set_event_loop(loop)
    return loop.run_until_complete(value)


def leave_fork():
    """A process that the function forked and that came back here is not the host."""
    if os.getpid() != owner:
        os._exit(0)


class Function:
    def __init__(self, call, folder):
        self.call, self.folder = call, folder

    def parameters(self):
        try:
            found = inspect.signature(self.call).parameters.values()
        except (TypeError, ValueError) as error:
            raise Refused("its parameters can't be read: %s" % error)
        return [
            {"name": each.name, "kind": each.kind.name.lower(), "optional": each.default is not each.empty}
            for each in found
        ]

    def is_async(self):
        call = self.call
        while isinstance(call, functools.partial):
            call = call.func
        return inspect.iscoroutinefunction(call) or inspect.iscoroutinefunction(getattr(call, "__call__", None))

    def rows(self, message):
        number, first, rows = message["id"], message["first"], message["rows"]
        if message["together"] > 1 and self.is_async():
            waited(self.rows_together(message))
            return
        call = self.call
        for at, keywords in enumerate(rows):
            try:
                value = call(**keywords)
                if type(value) is not float:
                    value = waited(value)
                value, components = result(value, first)
                leave_fork()
                answer(number, at, value, components)
            except BaseException as error:
                leave_fork()
                fail(number, at, self.said(error))

    async def rows_together(self, message):
        import asyncio

        number, turns = message["id"], asyncio.Semaphore(message["together"])

        async def one(at, keywords):
            async with turns:
                try:
                    told = await asyncio.wait_for(self.call(**keywords), message["seconds"])
                    value, components = result(told, message["first"])
                    answer(number, at, value, components)
                except asyncio.TimeoutError:
                    fail(number, at, "timeout after %s s" % message["seconds"])
                except BaseException as error:
                    leave_fork()
                    fail(number, at, self.said(error))

        await asyncio.gather(*(one(at, row) for at, row in enumerate(message["rows"])))

    def batch(self, message):
        """One call; where that fails, a call for each, so that what one rollout throws is its own error."""
        number, columns, count = message["id"], message["columns"], message["count"]
        if not message["each"]:
            try:
                for at, row in enumerate(self.called(message, columns, count)):
                    report(number, at, row)
                return
            except Wrong as error:
                for at in range(count):
                    fail(number, at, str(error))
                return
            except BaseException as error:
                leave_fork()
                if count == 1:
                    fail(number, 0, self.said(error))
                    return
        for at in range(count):
            try:
                own = {name: values[at : at + 1] for name, values in columns.items()}
                report(number, at, self.called(message, own, 1)[0])
            except BaseException as error:
                leave_fork()
                fail(number, at, self.said(error))

    def called(self, message, columns, count):
        logs = Logs(count)
        made = {}
        for name, value in message["made"].items():
            if value == "log_extra":
                made[name] = logs.add
            elif value == "log_metric":
                made[name] = logs.metric
            else:
                made[name] = types.SimpleNamespace(**value)
        value = waited(self.call(**columns, **message["shared"], **made))
        leave_fork()
        return results(value, count, logs)

    def said(self, error):
        return str(error) if isinstance(error, Wrong) else thrown(error, self.folder)


def answer(number, at, value, components):
    if components is None and value is not None:
        write(b'{"id":%d,"at":%d,"value":%s}' % (number, at, repr(value).encode()))
        return
    send({"id": number, "at": at, "value": value, **({"components": components} if components else {})})


def fail(number, at, error):
    send({"id": number, "at": at, "error": error})


def report(number, at, row):
    value, components, error = row
    if error is None:
        answer(number, at, value, components)
    else:
        fail(number, at, error)


def flush():
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except (AttributeError, OSError, ValueError):
            continue  # the user has closed or replaced it


def main():
    for fd in (3, 4):
        os.set_inheritable(fd, False)
    watch_parent()
    sys.dont_write_bytecode = True
    sys.meta_path[:0] = [Elsewhere, CoveredFinder]
    # The folder of this file leaves the path; isolated interpreters have put nothing there.
    here = os.path.dirname(os.path.abspath(__file__))
    if sys.path and os.path.abspath(sys.path[0]) == here:
        sys.path[0] = ""
    else:
        sys.path.insert(0, "")
    stream = os.fdopen(3, "rb", closefd=False)
    send({"kind": "hello", "version": list(sys.version_info[:3]), "executable": sys.executable})
    function = None
    while True:
        message = receive(stream)
        if message["kind"] == "load":
            try:
                function = load(message)
                send({"kind": "loaded", "parameters": function.parameters(), "asynchronous": function.is_async()})
            except Refused as error:
                send({"kind": "refused", "message": str(error)})
        elif message["kind"] == "rows":
            function.rows(message)
            send({"id": message["id"], "done": True})
        elif message["kind"] == "batch":
            function.batch(message)
            send({"id": message["id"], "done": True})
        else:
            send(Covered.now.reached())
        flush()


if __name__ == "__main__":
    if sys.argv[1:2] == ["--imports"]:
        print(json.dumps(imports(*sys.argv[2:])))
    else:
        main()
elif __name__ == "__mp_main__":
    sys.meta_path[:0] = [Child, Elsewhere]
