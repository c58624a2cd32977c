"""The process in which a user's environment or tool in Python runs: the standard library alone, CPython 3.8 or later.

Frames, loading and the end of the process are those of the reward's host, which lies next to this file once it is built.

  {"kind": "load", "file", "text", "name", "role"} -> {"kind": "loaded", "form", "tools", ...} or {"kind": "refused", "message"}
  {"kind": "ask", "id", "question": {"kind": "reset" | "step" | "state" | "restore" | "calls" | "reward" | "call", ...}}
     -> {"id", "value"} or {"id", "error"}
"""
import inspect
import math
import os
import random
import re
import sys

here = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(os.environ.get("GRADUS_PYTHON_HOST", "")) or here)
import rewardHost as host  # noqa: E402

del sys.path[0]

# Parts of a class of TRL's form that are no tools.
RESERVED = ("reset", "get_reward")


# ---- what is returned, as JSON ----------------------------------------------------------------------------------------


def jsonable(value):
    """Lists, dicts, texts and finite numbers, also those of numpy; anything else is shown to its author."""
    if value is None or isinstance(value, (str, bool)):
        return value
    if isinstance(value, int):
        return int(value)
    if isinstance(value, float):
        if not math.isfinite(value):
            raise host.Wrong("returned %s, which is not a finite number" % value)
        return float(value)
    if isinstance(value, dict):
        return {str(key): jsonable(each) for key, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [jsonable(each) for each in value]
    if hasattr(value, "tolist"):
        return jsonable(value.tolist())
    if hasattr(value, "model_dump"):
        return jsonable(value.model_dump())
    if hasattr(value, "__dataclass_fields__"):
        return {name: jsonable(getattr(value, name)) for name in value.__dataclass_fields__}
    raise host.Wrong("returned %s, which has no form in JSON" % host.described(value))


def text_of_result(value):
    """A tool's result as the policy reads it: of content blocks the texts."""
    if isinstance(value, list) and value and all(isinstance(each, dict) and "type" in each for each in value):
        other = [each["type"] for each in value if each["type"] != "text"]
        if other:
            raise host.Wrong("returned a block of type %s: only text can be read" % other[0])
        return "\n".join(str(each.get("text", "")) for each in value)
    return str(value)


# ---- a function as a tool: its name, its docstring, its type hints ------------------------------------------------------

TYPES = {str: "string", int: "integer", float: "number", bool: "boolean", list: "array", dict: "object", tuple: "array"}


def schema_of(hint):
    import typing

    if hint is inspect.Parameter.empty or hint is typing.Any:
        return {}
    origin, inner = getattr(hint, "__origin__", None), getattr(hint, "__args__", ())
    if hint in TYPES:
        return {"type": TYPES[hint]}
    if origin in (list, tuple, set):
        return {"type": "array", **({"items": schema_of(inner[0])} if inner and inner[0] is not Ellipsis else {})}
    if origin is dict:
        return {"type": "object", **({"additionalProperties": schema_of(inner[1])} if len(inner) == 2 else {})}
    if str(origin) == "typing.Literal":
        kinds = {TYPES.get(type(each)) for each in inner}
        return {**({"type": kinds.pop()} if len(kinds) == 1 else {}), "enum": list(inner)}
    if inner and (origin is typing.Union or type(hint).__name__ == "UnionType"):
        known = [schema_of(each) for each in inner if each is not type(None)]
        nullable = {"nullable": True} if type(None) in inner else {}
        return {**(known[0] if len(known) == 1 else {"anyOf": known}), **nullable}
    return {}


def hints_of(call):
    import typing

    try:
        return typing.get_type_hints(call)
    except Exception:  # names that only a type checker knows
        return dict(getattr(call, "__annotations__", {}))


def described_by(call):
    """A docstring in Google's style: its first part, and what it says of each argument."""
    text = inspect.getdoc(call) or ""
    head, *rest = re.split(r"^\s*(Args|Arguments|Parameters|Returns?|Raises|Yields|Examples?)\s*:\s*$", text, flags=re.M)
    sections = dict(zip(rest[0::2], rest[1::2]))
    listed = sections.get("Args") or sections.get("Arguments") or sections.get("Parameters") or ""
    arguments, last = {}, None
    for line in listed.splitlines():
        found = re.match(r"^\s*\*{0,2}(\w+)\s*(?:\([^)]*\))?\s*:\s*(.*)$", line)
        if found:
            last = found.group(1)
            arguments[last] = found.group(2).strip()
        elif last is not None and line.strip():
            arguments[last] = (arguments[last] + " " + line.strip()).strip()
    return head.strip(), arguments


def spec_of(call, name=None):
    description, told = described_by(call)
    hints = hints_of(call)
    properties, required = {}, []
    for each in inspect.signature(call).parameters.values():
        if each.kind in (each.VAR_POSITIONAL, each.VAR_KEYWORD):
            continue
        schema = schema_of(hints.get(each.name, each.annotation))
        if each.name in told:
            schema["description"] = told[each.name]
        properties[each.name] = schema
        if each.default is each.empty:
            required.append(each.name)
    parameters = {"type": "object", "properties": properties, **({"required": required} if required else {})}
    return {"name": name or call.__name__, "description": description or (name or call.__name__), "parameters": parameters}


# ---- forms ---------------------------------------------------------------------------------------------------------------


def methods_of(instance):
    """As TRL finds tools: public methods, in the order of their names."""
    found = inspect.getmembers(instance, predicate=inspect.ismethod)
    return {name: call for name, call in found if not name.startswith("_") and name not in RESERVED}


def keywords_for(call, available):
    """Of a task's columns those that a `reset` names; all, where it takes any."""
    return host.taken_by(call, available)


class Steps:
    """Gradus's own form: `reset(task, seed)`, `step(text)`."""

    form = "steps"

    def __init__(self, make):
        self.make, self.instance = make, None
        probe = make()
        self.restores = callable(getattr(probe, "state", None)) and callable(getattr(probe, "restore", None))
        self.tools, self.rewards = [], False

    def reset(self, question):
        self.instance = self.make()
        return host.waited(self.instance.reset(question["task"], question["seed"]))

    def step(self, question):
        return host.waited(self.instance.step(question["text"]))

    def state(self, question):
        return host.waited(self.instance.state())

    def restore(self, question):
        self.instance = self.make()
        given = {"task": question["task"], "seed": question["seed"]}
        return host.waited(self.instance.restore(question["state"], **host.taken_by(self.instance.restore, given)))


class Methods:
    """TRL's form: `reset(**row)`, public methods that are tools, and `get_reward()` at the end."""

    form = "methods"

    def __init__(self, make, probe):
        self.make, self.instance = make, probe
        self.restores = False
        self.tools = [spec_of(call, name) for name, call in methods_of(probe).items()]
        self.rewards = callable(getattr(probe, "get_reward", None))

    def reset(self, question):
        # Rollouts of a group meet the same state also where the class draws it.
        random.seed(question["seed"])
        if "numpy" in sys.modules:
            sys.modules["numpy"].random.seed(question["seed"] % 2**32)
        # An instance is reused, as TRL does it: what is slow to make is made once.
        value = host.waited(self.instance.reset(**keywords_for(self.instance.reset, question["task"])))
        return None if value is None else text_of_result(value)

    def calls(self, question):
        """Each result as text. Those of asynchronous methods come last, as TRL has it."""
        methods = methods_of(self.instance)
        asynchronous = [each for each in question["calls"] if inspect.iscoroutinefunction(methods.get(each["name"]))]
        plain = [each for each in question["calls"] if each not in asynchronous]
        return [
            {"name": each["name"], "text": self.called(methods, each)} for each in plain + asynchronous
        ]

    def called(self, methods, call):
        try:
            if call["name"] not in methods:
                raise ValueError("Tool %s not found." % call["name"])
            value = host.waited(methods[call["name"]](**call["arguments"]))
        except Exception as error:
            host.leave_fork()
            return str({"error": str(error)})
        return text_of_result(value)

    def reward(self, question):
        value = host.waited(self.instance.get_reward())
        return None if value is None else host.plain(value, "a number")


class Tool:
    form, restores, rewards = "tool", False, False

    def __init__(self, call, name):
        self.function = call
        self.tools = [spec_of(call, name)]

    def call(self, question):
        args, parameters = question["args"], host.parameters_of(self.function)
        unknown = [name for name in args if name not in parameters]
        takes_any = any(each.kind is each.VAR_KEYWORD for each in parameters.values())
        missing = [
            name
            for name, each in parameters.items()
            if each.default is each.empty and each.kind not in (each.VAR_KEYWORD, each.VAR_POSITIONAL) and name not in args
        ]
        # A mistake of the policy is a text that it reads, not an error of the rollout.
        if missing or (unknown and not takes_any):
            return "Error: the argument `%s` is %s." % ((missing or unknown)[0], "missing" if missing else "unknown")
        return text_of_result(host.waited(self.function(**args)))


def environment_of(target, name):
    make = target if callable(target) else (lambda: target)
    probe = make()
    if not callable(getattr(probe, "reset", None)):
        raise host.Refused("its `%s` has no method `reset`" % name)
    taken = host.parameters_of(probe.reset)
    if callable(getattr(probe, "step", None)) and {"task", "seed"} <= set(taken):
        return Steps(make)
    if methods_of(probe) or callable(getattr(probe, "get_reward", None)):
        return Methods(make, probe)
    raise host.Refused("its `%s` has neither `step(text)` nor public methods to call" % name)


def load(message):
    name = message["name"]
    found = host.load({key: message[key] for key in ("file", "text", "name")})
    if message["role"] == "tool":
        if inspect.isclass(found.call):
            raise host.Refused("its `%s` is a class, not a function" % name)
        return Tool(found.call, name)
    return environment_of(found.call, name)


def answered(target, question):
    handler = getattr(target, question["kind"], None)
    if handler is None:
        raise host.Wrong("it is not asked for its %s" % question["kind"])
    value = jsonable(handler(question))
    host.leave_fork()
    return value


def main():
    for fd in (3, 4):
        os.set_inheritable(fd, False)
    host.watch_parent()
    sys.dont_write_bytecode = True
    sys.meta_path[:0] = [host.Elsewhere]
    if sys.path and os.path.abspath(sys.path[0]) == here:
        sys.path[0] = ""
    else:
        sys.path.insert(0, "")
    stream = os.fdopen(3, "rb", closefd=False)
    host.send({"kind": "hello", "version": list(sys.version_info[:3]), "executable": sys.executable})
    target, folder = None, ""
    while True:
        message = host.receive(stream)
        if message["kind"] == "load":
            folder = os.path.dirname(message["file"])
            try:
                target = load(message)
                host.send(
                    {
                        "kind": "loaded",
                        "form": target.form,
                        "tools": target.tools,
                        "restores": target.restores,
                        "rewards": target.rewards,
                    }
                )
            except host.Refused as error:
                host.send({"kind": "refused", "message": str(error)})
            except BaseException as error:
                host.leave_fork()
                host.send({"kind": "refused", "message": "loading it " + host.thrown(error, folder)})
        else:
            try:
                host.send({"id": message["id"], "value": answered(target, message["question"])})
            except host.Wrong as error:
                host.send({"id": message["id"], "error": str(error)})
            except BaseException as error:
                host.leave_fork()
                host.send({"id": message["id"], "error": host.thrown(error, folder)})
        host.flush()


if __name__ == "__main__":
    main()
