"""The process that makes the rows on which a training script trains: the statements of `rowsSlice.py`, and nothing else.

Frames and the end of the process are those of the reward's host. CPython 3.8 or later; no model, no network, no GPU.

  {"kind": "make", "file", "text", "trainer", "position", "most"}
     <- {"kind": "read", "place", "name", "split", "revision"}   where `datasets` is not installed: rows that Gradus reads
     -> {"kind": "rows", "rows": [row]} or {"kind": "absent"}
  -> {"kind": "made", "rows", "line", "left": [{"line", "what"}], "sample"} or {"kind": "refused", "what", "line"}
"""
import ast
import importlib
import itertools
import json
import math
import os
import re
import socket
import sys

here = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [here, os.path.dirname(os.environ.get("GRADUS_PYTHON_HOST", "")) or here]
import rewardHost as host  # noqa: E402
import rowsArguments  # noqa: E402
import rowsDatasets as standIn  # noqa: E402
import rowsSamples as samples  # noqa: E402
import rowsSlice as slices  # noqa: E402

del sys.path[:2]

# Rows of one load: what is tried are the first few, and a script may filter before.
LOADED = 4096
# Letters of all rows together, as JSON.
LETTERS = 8 * 1024 * 1024
OFFLINE = {
    "HF_HUB_OFFLINE": "1",
    "HF_DATASETS_OFFLINE": "1",
    "TRANSFORMERS_OFFLINE": "1",
    "CUDA_VISIBLE_DEVICES": "",
    "WANDB_MODE": "disabled",
    "TOKENIZERS_PARALLELISM": "false",
    "HF_DATASETS_DISABLE_PROGRESS_BARS": "1",
}
# Packages that want a GPU as soon as they are imported.
HEAVY = ("unsloth", "unsloth_zoo", "vllm", "bitsandbytes", "deepspeed")
FEWER = re.compile(r"^(filter|select|sort|shuffle|take|skip)$")


class Lost(Exception):
    """What cannot be had here, in words that follow a place: "needs a model"."""


class Network(Exception):
    """No OSError: what waits and tries again on those would take the whole time."""


def no_network(*_, **__):
    raise Network("asks the network")


# ---- data sets --------------------------------------------------------------------------------------------------------


class Data:
    """`datasets`, the package or its stand-in, with what this process cannot have said in its own words."""

    # The data set that sample rows stand in for.
    sample = None

    @classmethod
    def install(cls):
        try:
            package = importlib.import_module("datasets")
            if not hasattr(package, "load_dataset"):
                raise ImportError("a folder of that name")  # noqa: TRY301
            cls.adapt(package)
        except ImportError:
            standIn.ask = cls.ask
            package = sys.modules["datasets"] = standIn
        load = package.load_dataset

        def load_dataset(path=None, name=None, *given, **named):
            split = named.get("split") or next(iter(given[2:3]), None)
            try:
                found = load(path, name, *given, **named)
            except Exception as error:
                if isinstance(error, Lost) or os.path.exists(str(path)) or named.get("data_files") or "data_files" in str(error):
                    raise
                found = None
                if cls.sampled(path) is None:
                    raise Lost("`%s` is not on this disk" % path) from error
            # A part of a data set is not the same part of three rows.
            if found is None or (cls.sample == str(path) and split is not None):
                return cls.split(package, samples.sample(path), split)
            return cls.first(found)

        package.load_dataset = load_dataset

    @staticmethod
    def split(package, rows, split):
        if isinstance(split, (list, tuple)):
            return [package.Dataset.from_list(rows) for _ in split]
        one = package.Dataset.from_list(rows)
        return one if split is not None else package.DatasetDict(train=one, test=one)

    @classmethod
    def sampled(cls, place):
        found = samples.sample(place)
        if found is not None:
            cls.sample = str(place)
        return found

    @staticmethod
    def first(found):
        """Of a large data set its first rows."""
        if hasattr(found, "num_rows") and isinstance(found.num_rows, int):
            return found.select(range(LOADED)) if found.num_rows > LOADED else found
        if isinstance(found, dict) and not isinstance(found, standIn.DatasetDict):
            return type(found)({name: Data.first(each) for name, each in found.items()})
        return found

    @staticmethod
    def adapt(package):
        """In memory and in this process alone: nothing is left on the disk."""
        package.disable_caching()
        plain = package.Dataset

        def in_memory(method):
            def called(self, *given, **named):
                named.pop("num_proc", None)
                named.setdefault("keep_in_memory", True)
                return method(self, *given, **named)

            return called

        def select(self, indices, *given, **named):
            return selected(self, [at for at in map(int, indices) if at < len(self)], *given, **named)

        plain.map, plain.filter = in_memory(plain.map), in_memory(plain.filter)
        selected, plain.select = plain.select, select

    @staticmethod
    def ask(place, name, split, revision):
        host.send({"kind": "read", "place": place, "name": name, "split": split, "revision": revision})
        answer = host.receive(stream)
        if "rows" in answer:
            return answer["rows"]
        found = Data.sampled(place)
        if found is not None:
            return found
        raise Lost("`%s` is not on this disk" % (os.path.relpath(place) if os.path.isabs(place) else place))


class Tokenizer:
    """In the place of one that is not on this disk: it writes conversations as ChatML does, and knows no tokens."""

    chat_template = None

    def __init__(self, why):
        self.__dict__["why"] = why

    def apply_chat_template(self, conversation, tokenize=True, add_generation_prompt=False, **_):
        if tokenize:
            raise Lost(self.why)
        Making.now.templates = True
        text = "".join("<|im_start|>%s\n%s<|im_end|>\n" % (each["role"], each["content"]) for each in conversation)
        return text + ("<|im_start|>assistant\n" if add_generation_prompt else "")

    def __call__(self, *_, **__):
        raise Lost(self.why)

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        if name.endswith("_token"):
            return "<|im_end|>"
        raise Lost(self.why)


# ---- the statements, one by one ------------------------------------------------------------------------------------------


class Making:
    now = None

    def __init__(self, message):
        Making.now = self
        self.file, self.folder = message["file"], os.path.dirname(message["file"])
        self.tree = ast.parse(message["text"], self.file)
        self.slice = slices.Slice(self.tree, message["trainer"], message["position"])
        self.names = host.module_of(self.file, self.tree).__dict__
        # By name, why it does not exist: (line, words).
        self.lost = dict(self.slice.lost)
        self.left, self.templates, self.most = [], False, message["most"]

    def rows(self):
        for node in self.slice.statements:
            self.statement(node)
        expression = ast.Expression(self.slice.rows)
        try:
            value = eval(compile(expression, self.file, "eval"), self.names)
            if isinstance(value, dict) and "train" in value:
                value = value["train"]
            return self.taken(value)
        except BaseException as error:
            host.leave_fork()
            raise self.refusal(*self.why(error, self.slice.rows))

    def statement(self, node):
        try:
            if slices.makes_model(node):
                if self.tokenizers(node):
                    return
                raise Lost("needs a model")
            if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] in HEAVY:
                raise Lost("needs `%s`, which wants a GPU" % node.module)
            exec(compile(ast.Module([node], []), self.file, "exec"), self.names)
        except BaseException as error:
            host.leave_fork()
            self.failed(node, error)
        finally:
            os.environ.update(OFFLINE)

    def tokenizers(self, node):
        """Of `model, tokenizer = FastLanguageModel.from_pretrained(NAME)` the tokenizer alone."""
        names = slices.targets_of(node)
        own = [name for name in names if slices.TOKENIZER.search(name)]
        value = getattr(node, "value", None)
        if not own or not isinstance(value, ast.Call):
            return False
        first = [each.value for each in value.keywords if each.arg in ("model_name", "pretrained_model_name_or_path")]
        for name in own:
            self.names[name] = self.tokenizer((first + value.args)[:1], node)
        self.lost.update((name, (node.lineno, "needs a model")) for name in names if name not in own)
        return True

    def tokenizer(self, named, node):
        try:
            name = eval(compile(ast.Expression(named[0]), self.file, "eval"), self.names)
            loaded = importlib.import_module("transformers").AutoTokenizer
        except ModuleNotFoundError:
            return Tokenizer("needs the tokenizer, for which the package `transformers` is not installed")
        except BaseException as error:
            return Tokenizer("needs the tokenizer, which %s" % self.why(error, node)[1])
        try:
            return loaded.from_pretrained(name)
        except BaseException:
            return Tokenizer("needs the tokenizer of `%s`, which is not on this disk" % name)

    def failed(self, node, error):
        """What it would have given is lost; where only fewer rows were to be left, they stay as they are."""
        line, words = self.why(error, node)
        names = slices.binds(node)
        call = getattr(node, "value", None)
        method = call.func.attr if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) else ""
        known = all(name in self.names for name in names)
        if isinstance(call, ast.Call) and slices.is_tokenizer(call) and not known:
            for name in names:
                self.names[name] = Tokenizer("needs the tokenizer, which is not on this disk")
            return
        tokenizes = known and all(slices.TOKENIZER.search(name) for name in names)
        # What a condition hangs on is not here: the rows stay as they were before it.
        choice = isinstance(node, ast.If) and bool(slices.reads(node.test) & set(self.lost))
        if known and (tokenizes or ((FEWER.match(method) or choice) and isinstance(self.root(error), Lost))):
            self.left.append({"line": line, "what": words})
            return
        for name in names - {"*"}:
            self.names.pop(name, None)
            self.lost[name] = (line, words)

    def lost_by(self, error):
        """Why a name does not exist that a statement reads: (line, words); None: the error is another."""
        name = re.search(r"^name '(\w+)' is not defined", str(error)) if isinstance(error, NameError) else None
        return self.lost.get(name.group(1)) if name is not None else None

    @staticmethod
    def root(error):
        """What was thrown first: packages wrap what a row's function throws."""
        lost = Making.now.lost_by(error)
        if lost is not None:
            return Lost(lost[1])
        seen = error
        while seen is not None:
            if isinstance(seen, (Lost, Network, standIn.Lacking)):
                return Lost(str(seen))
            seen = seen.__cause__ or seen.__context__
        return error

    def why(self, error, node):
        """The line, and the words that say why."""
        lost = self.lost_by(error)
        if lost is not None:
            return lost
        place = host.place_of(error, self.folder)
        own = place is not None and place[0] == os.path.basename(self.file)
        line = place[1] if own else getattr(node, "lineno", None)
        root = self.root(error)
        if isinstance(root, Lost):
            return line, str(root)
        if isinstance(error, SystemExit):
            return line, "wants arguments of the script's command line"
        if isinstance(error, ModuleNotFoundError):
            return line, "needs the package `%s`, which is not installed" % (error.name or "").split(".")[0]
        text = host.thrown(error, self.folder)
        return line, re.sub(r" \([^()]*:\d+\)$", "", text) if own else text

    def refusal(self, line, what):
        refused = host.Refused(what)
        refused.line = line
        return refused

    def taken(self, value):
        rows, letters = [], 0
        for row in itertools.islice(iter(value), self.most):
            if not isinstance(row, dict):
                raise Lost("makes rows that are no dicts: the first is %s" % host.described(row))
            made = plain(row)
            letters += len(json.dumps(made))
            if letters > LETTERS and rows:
                break
            rows.append(made)
        if not rows:
            raise Lost("makes no row")
        return rows


OTHER = object()


def plain(value):
    """As JSON; what has no form there, such as a picture, is left out."""
    if value is None or isinstance(value, (str, bool)):
        return value
    if isinstance(value, (int, float)):
        return value if abs(value) < 1e300 and math.isfinite(value) else None
    if isinstance(value, dict):
        return {str(key): each for key, each in ((key, plain(each)) for key, each in value.items()) if each is not OTHER}
    if isinstance(value, (list, tuple)):
        return [each for each in map(plain, value) if each is not OTHER]
    if hasattr(value, "tolist"):
        return plain(value.tolist())
    return str(value) if hasattr(value, "isoformat") else OTHER


def make(message):
    try:
        making = Making(message)
    except SyntaxError as error:
        return {"kind": "refused", "what": "it does not parse: %s" % error.msg, "line": error.lineno}
    except (slices.NoRows, ValueError) as error:
        return {"kind": "refused", "what": str(error), "line": getattr(error, "line", None)}
    if "datasets" in message["text"]:
        Data.install()
    try:
        rows = making.rows()
    except host.Refused as error:
        return {"kind": "refused", "what": str(error), "line": error.line}
    lines = [making.slice.rows.lineno]
    for node in making.slice.statements:
        if not isinstance(node, (ast.Import, ast.ImportFrom)):
            lines.append(node.lineno)
    left = making.left
    if making.templates:
        left = left + [{"line": None, "what": "prompts are written as ChatML, since the tokenizer's own template is not on this disk"}]
    return {"kind": "made", "rows": rows, "left": left, "sample": Data.sample, "line": min(lines)}


stream = None


def main():
    global stream
    for fd in (3, 4):
        os.set_inheritable(fd, False)
    host.watch_parent()
    # What the statements print on the way is nobody's question.
    silent = os.open(os.devnull, os.O_WRONLY)
    os.dup2(silent, 1)
    os.dup2(silent, 2)
    sys.dont_write_bytecode = True
    os.environ.update(OFFLINE)
    socket.socket.connect = socket.create_connection = socket.getaddrinfo = no_network
    stream = os.fdopen(3, "rb", closefd=False)
    host.send({"kind": "hello", "version": list(sys.version_info[:3]), "executable": sys.executable})
    message = host.receive(stream)
    sys.path[0] = os.path.dirname(message["file"])
    sys.argv[:] = [message["file"]]
    rowsArguments.leave_out(Lost)
    sys.meta_path.insert(0, host.Elsewhere)
    host.send(make(message))
    host.flush()
    host.receive(stream)


if __name__ == "__main__":
    main()
