/** The code of a judge: a test in a clean Python state, in which the names of the program are stubs that ask the program's own state. */
import { crossing } from "../../../lib/sandbox/python/crossing.ts";

/** @param setup its imports are the judge's, too */
export const pythonJudge = (test: string, setup: string, word: string): string => `
def _gradus_judge(test, setup, word):
    import ast, builtins, collections, importlib, json, math, operator, os, sys
    class Ended(BaseException): pass
    class CannotCross(BaseException): pass
    def ask(request):
        try:
            text = json.dumps(request)
        except (TypeError, ValueError, RecursionError):
            raise Ended("what the program returned is not readable") from None
        left = text.encode()
        while left:
            left = left[os.write(1001, left):]
        length = int.from_bytes(os.read(1001, 4), "little")
        if length == 0xffffffff:
            raise Ended("the program ended before its test")
        said = b""
        while len(said) < length:
            said += os.read(1001, length - len(said))
        try:
            return json.loads(said)
        except BaseException:
            raise Ended("what the program returned is not readable") from None
    stubs, errors = {}, {}
    def number(value):
        if isinstance(value, type) and value in errors: return ["h", errors[value]]
        if type(value) is Stub: return ["h", object.__getattribute__(value, "_number")]
        # What a program chose to return, forged or nested without end, is no reason to be graded by its own process.
        try:
            name = shared.get(value)
        except TypeError:
            name = None
        if name is not None: return ["b", *name]
        if type(value) in theirs or type(value) in errors: raise Ended("what the program returned is not readable")
        raise CannotCross("a class of its own" if isinstance(value, type) else "a function of its own" if callable(value) else f"an object of class {type(value).__name__}")
    shared = {value: (module.__name__.strip("_"), name) for module in (builtins, math, operator) for name, value in vars(module).items() if callable(value) and not name.startswith("__")}
    theirs = {list, tuple, dict, set, frozenset, collections.deque, collections.Counter, collections.OrderedDict, collections.defaultdict}
    def known(said):
        if said[0] != "h": raise Ended("what the program returned is not readable")
        at, error = said[1], said[2]
        if at not in stubs:
            stub = object.__new__(Stub)
            object.__setattr__(stub, "_number", at)
            stubs[at] = stub
            if error:
                stubs[at] = error_class(str(error[0]), [getattr(builtins, one, Exception) if type(one) is str else known(one) for one in error[1]])
                errors[stubs[at]] = at
        return stubs[at]
    def error_class(name, bases):
        own = {"__str__": lambda error: error.__dict__["_message"] if "_message" in error.__dict__ else Exception.__str__(error), "__getattr__": attribute}
        try:
            return type(name, tuple(one for one in bases if isinstance(one, type) and issubclass(one, BaseException)) or (Exception,), own)
        except TypeError:
            return type(name, (Exception,), own)
    def attribute(error, name):
        if "_there" not in error.__dict__: raise AttributeError(name)
        return op("attr", error.__dict__["_there"], name)
    encode, decode = _make_crossing(number, known)
    def heard(said, args=()):
        try:
            if said[0] == "no":
                base = getattr(builtins, said[1], Exception)
                kind = decode(said[3]) if said[3] else base
                if kind not in errors and not (isinstance(base, type) and issubclass(base, BaseException)): kind = Exception
                try:
                    error = kind(*decode(said[5]))
                    if said[6]: error.__dict__.update(_there=decode(said[6]), _message=str(said[2]))
                except Exception:
                    error = RuntimeError(said[2])
            else:
                error = None
                if said[0] != "ok": raise Ended("what the program returned is not readable")
                for arg, one in zip(args, said[2] if len(said) > 2 else ()):
                    if one is None: continue
                    new = decode(one[0])
                    if type(new) is not type(arg): continue
                    if type(arg) in (list, bytearray): arg[:] = new
                    elif hasattr(arg, "clear"):
                        arg.clear()
                        (arg.extend if type(arg) is collections.deque else arg.update)(new)
                value = args[said[1][1]] if type(said[1]) is list and said[1][0] == "a" else decode(said[1])
        except Ended:
            raise
        except BaseException:
            raise Ended("what the program returned is not readable") from None
        if error is not None: raise error
        return value
    def op(name, *args):
        return heard(ask([name, [encode(one) for one in args]]))
    class Stub:
        def __call__(self, *args, **named):
            return heard(ask(["call", encode(self), [encode(one) for one in args], [[k, encode(v)] for k, v in named.items()]]), args)
        def __getattr__(self, name): return op("attr", self, name)
        def __setattr__(self, name, value): op("set", self, name, value)
        def __delattr__(self, name): op("del", self, name)
        # A plain value is equal to none of the program's objects: its own __eq__ is asked of two of them alone.
        def __eq__(self, other): return self is other or (type(other) is Stub and op("eq", self, other) is True)
        def __ne__(self, other): return op("ne", self, other) is True if type(other) is Stub else True
        def __hash__(self): return hash(op("hash", self))
        def __mro_entries__(self, _bases): raise CannotCross("a class that derives from the program's")
        def __instancecheck__(self, value): return type(value) is Stub and op("isinstance", value, self) is True
        def __contains__(self, value): return op("contains", self, value) is True
        def __setitem__(self, key, value): op("setitem", self, key, value)
        def __delitem__(self, key): op("delitem", self, key)
        def __exit__(self, *_error): op("exit", self)
        def __bool__(self): return op("bool", self) is True
        def __round__(self, *digits): return op("round", self, *digits)
        def __format__(self, spec): return op("format", self, spec)
    def forward(name, method):
        setattr(Stub, method, lambda self, *args: op(name, self, *args))
    for name in ("iter", "next", "len", "str", "repr", "int", "float", "reversed", "index", "enter", "getitem", "neg", "pos", "abs", "invert", "lt", "le", "gt", "ge"):
        forward(name, f"__{name}__")
    for name in ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "matmul", "and_", "or_", "xor", "lshift", "rshift"):
        bare = name.strip("_")
        forward(name, f"__{bare}__")
        setattr(Stub, f"__r{bare}__", lambda self, other, name=name: op(name, other, self))

    tree = ast.parse(test)
    imported = [one for one in ast.parse(setup).body if isinstance(one, (ast.Import, ast.ImportFrom))]
    loaded = {one.id for one in ast.walk(tree) if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Load)}
    bound = {one.id for one in ast.walk(tree) if isinstance(one, ast.Name) and not isinstance(one.ctx, ast.Load)}
    bound |= {one.name for one in ast.walk(tree) if isinstance(one, (ast.FunctionDef, ast.ClassDef, ast.AsyncFunctionDef))}
    bound |= {one.arg for one in ast.walk(tree) if isinstance(one, ast.arg)}
    for one in [*ast.walk(tree), *imported]:
        if isinstance(one, (ast.Import, ast.ImportFrom)):
            bound |= {(alias.asname or alias.name).split(".")[0] for alias in one.names}
    common = {**vars(collections), **vars(math), **vars(builtins)}
    attributes = {one.value.id for one in ast.walk(tree) if isinstance(one, ast.Attribute) and isinstance(one.value, ast.Name)}
    modules = {name for name in attributes - bound if name in sys.stdlib_module_names}
    # What a test computes with is the judge's; only where it names nothing else is a common name the program's.
    only_common = all(name in common or name in bound or name in modules for name in loaded)
    called = {one.func.id for one in ast.walk(tree) if isinstance(one, ast.Call) and isinstance(one.func, ast.Name)} if only_common else set()
    class Scope(dict):
        def __missing__(self, name):
            if name in modules: return importlib.import_module(name)
            if name in common and name not in called:
                if name in vars(builtins): raise KeyError(name)
                return common[name]
            said = ask(["name", name])
            if said[0] == "none": raise KeyError(name)
            return heard(said)
    scope = Scope(__name__="__main__", __builtins__=builtins)
    sys.modules["__main__"].__dict__.update(scope)
    try:
        exec(compile(ast.Module(imported, []), "setup.py", "exec"), scope)
        exec(compile(tree, "test.py", "exec"), scope)
        verdict = "passed"
    except CannotCross as error:
        verdict = f"cannot cross {error}"
    sys.__stdout__.write("\\n" + word + verdict + "\\n")
${crossing}
_gradus_judge(${JSON.stringify(test)}, ${JSON.stringify(setup)}, ${JSON.stringify(word)})
`;
