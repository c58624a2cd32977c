"""Which statements of a training script make its `train_dataset`: read backwards from the trainer's call. Nothing is run.

The result is a flat list of statements in the order in which they run, as of one module: those before the call, those of the
function around it with its parameters bound, those before that function's own call.
"""
import ast
import copy
import re

from rewardHost import apart

FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
BLOCKS = (ast.If, ast.For, ast.AsyncFor, ast.While, ast.With, ast.AsyncWith, ast.Try)
TOKENIZER = re.compile(r"tokenizer|processor|processing_class", re.I)
# Calls that make a model, or train one: no statement of these runs.
MODEL = re.compile(r"(Trainer|LLM|get_peft_model|pipeline|SentenceTransformer)$")
# Methods that write, send or show.
OUTWARD = re.compile(r"^(push_to_hub|save_\w+|to_(csv|json|parquet|sql|pandas)|apply_chat_template|encode|decode|head|info|describe|print\w*|show)$")


class NoRows(Exception):
    """The rows cannot be found in the text; the message says why."""

    def __init__(self, text, node=None):
        super().__init__(text)
        self.line = getattr(node, "lineno", None)


def dotted(node):
    """`a.b.c`; what is no such name ends in a dot."""
    if isinstance(node, ast.Attribute):
        return "%s.%s" % (dotted(node.value), node.attr)
    return node.id if isinstance(node, ast.Name) else ""


def root_of(node):
    while isinstance(node, (ast.Attribute, ast.Subscript, ast.Starred)):
        node = node.value
    return getattr(node, "id", None)


def reads(node):
    return {each.id for each in ast.walk(node) if isinstance(each, ast.Name) and not isinstance(each.ctx, ast.Store)}


def targets_of(node):
    """Names that an assignment gives, or changes: `TABLE["key"] = 1`."""
    found = getattr(node, "targets", None) or [getattr(node, "target", None)]
    flat = [inner for each in found for inner in (each.elts if isinstance(each, (ast.Tuple, ast.List)) else [each])]
    return [root_of(each) for each in flat if root_of(each) is not None]


def blocks_in(node):
    """The lists of statements inside a compound statement."""
    handlers = [each.body for each in getattr(node, "handlers", [])]
    return [each for each in [getattr(node, name, None) for name in ("body", "orelse", "finalbody")] + handlers if each]


def changes(node):
    """Of an expression statement: names whose objects it may change, `rows.append(…)`, `random.shuffle(rows)`."""
    call = node.value
    if not isinstance(call, ast.Call):
        return set()
    given = {each.id for each in call.args if isinstance(each, ast.Name)}
    if isinstance(call.func, ast.Attribute):
        if OUTWARD.match(call.func.attr):
            return set()
        shuffles = given if call.func.attr in ("shuffle", "heappush") else set()
        return shuffles | ({root_of(call.func)} - {None})
    name = dotted(call.func)
    return set() if name in ("print", "len", "display", "help", "type", "isinstance", "assert") else given


def binds(node):
    """Names that exist, or are others, after a statement."""
    if isinstance(node, FUNCTIONS + (ast.ClassDef,)):
        return {node.name}
    if isinstance(node, (ast.Import, ast.ImportFrom)):
        return {each.asname or each.name.split(".")[0] for each in node.names}
    if isinstance(node, ast.Expr):
        return changes(node)
    if isinstance(node, BLOCKS):
        own = [each for block in blocks_in(node) for inner in block for each in binds(inner)]
        with_names = [root_of(each.optional_vars) for each in getattr(node, "items", []) if each.optional_vars]
        return set(own + with_names + (targets_of(node) if hasattr(node, "target") else []))
    return set(targets_of(node))


def calls_now(node):
    """Calls that run with a statement: not those in functions that it defines."""
    if isinstance(node, FUNCTIONS + (ast.Lambda,)):
        return
    if isinstance(node, ast.Call):
        yield node
    for each in ast.iter_child_nodes(node):
        yield from calls_now(each)


def is_tokenizer(call):
    """`AutoTokenizer.from_pretrained(…)`, and no model."""
    name = dotted(call.func)
    return name.endswith(".from_pretrained") and bool(TOKENIZER.search(name))


def makes_model(node):
    return any(
        (dotted(call.func).endswith(".from_pretrained") and not is_tokenizer(call))
        or bool(MODEL.search(dotted(call.func)))
        or dotted(call.func).split(".")[-1] in ("train", "cuda", "generate")
        for call in calls_now(node)
    )


def is_setting(node):
    """`sys.path.append(…)`: imports may depend on it."""
    call = getattr(node, "value", None)
    return isinstance(node, ast.Expr) and isinstance(call, ast.Call) and dotted(call.func).startswith("sys.path.")


def is_main_guard(node):
    return isinstance(node, ast.If) and "__name__" in reads(node.test)


class Slice:
    """`statements` and the expression `rows`; `lost` has parameters that nothing gives, with the reason."""

    def __init__(self, tree, trainer, position):
        self.tree, self.lost = tree, {}
        self.parents = {id(each): node for node in ast.walk(tree) for each in ast.iter_child_nodes(node)}
        calls = [
            node
            for node in ast.walk(tree)
            if isinstance(node, ast.Call) and (dotted(node.func) or "").split(".")[-1] == trainer
        ]
        if not calls:
            raise NoRows("the script does not call `%s`" % trainer)
        self.call = max(calls, key=lambda node: (node.lineno, node.col_offset))
        self.rows = self.given(position)
        self.statements = self.needed(self.before(self.call, ()), self.rows)

    def given(self, position):
        for each in self.call.keywords:
            if each.arg == "train_dataset":
                return each.value
        if len(self.call.args) > position:
            return self.call.args[position]
        raise NoRows("the trainer is given no `train_dataset` by its name", self.call)

    def before(self, node, seen):
        """Statements that have run when a node is reached, as far as they are on the way there."""
        found = []
        while id(node) in self.parents:
            parent = self.parents[id(node)]
            for block in blocks_in(parent):
                at = [place for place, each in enumerate(block) if each is node]
                if at:
                    found = block[: at[0]] + found
            if isinstance(parent, FUNCTIONS):
                return self.around(parent, seen) + found
            node = parent
        return found

    def around(self, function, seen):
        """What has run when a function of the script is called, and its parameters."""
        calls = [
            node
            for node in ast.walk(self.tree)
            if isinstance(node, ast.Call) and root_of(node.func) == function.name and function not in seen
        ]
        if not calls or isinstance(self.parents[id(function)], ast.ClassDef):
            names = [each.arg for each in function.args.args + function.args.kwonlyargs]
            self.lost.update((name, (function.lineno, "`%s` is a parameter" % name)) for name in names)
            return [node for node in self.tree.body if not is_main_guard(node)]
        return self.before(calls[-1], seen + (function,)) + list(self.bound(function, calls[-1]))

    def bound(self, function, call):
        """Each parameter as an assignment."""
        names = [each.arg for each in function.args.args]
        values = dict(zip(names[len(names) - len(function.args.defaults) :], function.args.defaults))
        only = zip(function.args.kwonlyargs, function.args.kw_defaults)
        values.update((each.arg, value) for each, value in only if value is not None)
        values.update(zip(names, [each for each in call.args if not isinstance(each, ast.Starred)]))
        values.update((each.arg, each.value) for each in call.keywords if each.arg)
        for name in names + [each.arg for each in function.args.kwonlyargs]:
            if name not in values:
                self.lost[name] = (call.lineno, "`%s` is a parameter" % name)
            elif dotted(values[name]) != name:
                target = ast.Name(name, ast.Store())
                yield ast.fix_missing_locations(ast.copy_location(ast.Assign([target], values[name]), call))

    def needed(self, statements, rows):
        """Of the statements those that the rows read, and what these read."""
        kept = [pruned(node) for node in apart(statements) if not is_main_guard(node)]
        wanted, size = reads(rows), -1
        while size != len(wanted):
            size = len(wanted)
            for node in kept:
                if binds(node) & wanted and not isinstance(node, (ast.Import, ast.ImportFrom)):
                    wanted |= reads(node)
        imported = {name for node in kept if isinstance(node, (ast.Import, ast.ImportFrom)) for name in binds(node)}

        def is_needed(node):
            if isinstance(node, ast.ImportFrom) and node.module == "__future__":
                return True
            if isinstance(node, ast.Expr) and not is_setting(node):
                # Of a module only what makes chance repeat itself.
                seeds = isinstance(node.value, ast.Call) and dotted(node.value.func).endswith("seed")
                return bool(changes(node) & wanted - (set() if seeds else imported))
            return is_setting(node) or "*" in binds(node) or bool(binds(node) & wanted)

        return [node for node in kept if is_needed(node)]


def pruned(node):
    """A block without what makes models or only shows something."""
    if not isinstance(node, BLOCKS):
        return node
    node = copy.copy(node)
    for name in ("body", "orelse", "finalbody"):
        block = getattr(node, name, None)
        if block:
            left = [pruned(each) for each in block if not is_idle(each)]
            setattr(node, name, left or [ast.copy_location(ast.Pass(), block[0])])
    return node


def is_idle(node):
    if isinstance(node, ast.Expr):
        return not changes(node) and not isinstance(node.value, (ast.Yield, ast.YieldFrom))
    return makes_model(node) and not isinstance(node, BLOCKS)
