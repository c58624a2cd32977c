"""Records what a reward function is asked and answers, for Gradus. One file, the standard library alone, CPython 3.8 or later.

    from gradus_hook import log_rollouts, trl_callback

    @log_rollouts
    def correct(completions, answer, **kwargs):
        ...

    GRPOTrainer(..., reward_funcs=correct, callbacks=[trl_callback()])   # metrics, steps and weights as well

Any reward function of TRL, verl or OpenRLHF, or one of your own, sync or async. Every call is appended to a file of this
process in ./gradus-rollouts (GRADUS_ROLLOUTS names another folder, or `off`). `gradus runs import gradus-rollouts` makes a
run of it, also while the training goes on. What fails here is said once on stderr and never stops the training.

A line is a rollout as `gradus explain` reads it, and begins with step and time. Lines of several functions about one rollout
have the same step, group and index.
"""
import functools
import hashlib
import inspect
import json
import math
import os
import socket
import sys
import threading
import time
import weakref

FOLDER = "gradus-rollouts"
# Characters of a value that is no JSON; levels of one that is, and numbers of an array.
SHOWN, DEEP, LARGE = 400, 8, 4096

SOLUTION = ("solution_str", "predict_str", "model_output")
ANSWERS = ("response", "completion", "output", "answer", "generation", "text", "solution")
PROMPTS = ("prompt", "question", "query", "problem", "instruction", "input")
TRUTHS = ("ground_truth", "answer", "solution", "label", "labels", "target", "reference")
# What TRL hands over that is no column of the data.
HANDED = ("trainer_state", "log_extra", "log_metric", "environments", "completion_ids", "prompts", "completions", "self")


class _State:
    """Of this process. A child of fork begins its own file."""

    def __init__(self):
        self.lock = threading.RLock()
        self.pid = os.getpid()
        self.files = {}
        # By function: rollouts of each step and task, and of all.
        self.counts = {}
        self.seen = {}
        self.calls = 0
        self.step = None
        self.group_size = None
        self.model = None
        self.complained = False


_state = _State()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=lambda: _forked())


def _forked():
    global _state
    before, _state = _state, _State()
    for name in ("step", "group_size", "model", "complained"):
        setattr(_state, name, getattr(before, name))


def set_step(step):
    """For trainers that do not say which step it is: rollouts belong to this one from now on."""
    _state.step = int(step)


def log_rollouts(function=None, *, name=None, weight=None, folder=None, group_size=None, rollouts_per_step=None):
    """Wraps a reward function so that every call is recorded.

    name: of the reward term, by default the function's. weight: of the term in the reward.
    group_size: rollouts of a prompt; several groups of one prompt in a step are then told apart.
    rollouts_per_step: counts steps in a process whose trainer does not say which it is.
    """
    options = {"weight": weight, "folder": folder, "group_size": group_size, "rollouts_per_step": rollouts_per_step}
    if function is None:
        return functools.partial(log_rollouts, name=name, **options)
    if not callable(function) or isinstance(function, type) or hasattr(function, "state_dict"):
        _complain("%s is no function: its rewards are not recorded" % _short(function))
        return function
    options["name"] = name or getattr(function, "__name__", None) or _named(function)
    if _is_async(function):

        async def wrapper(*args, **kwargs):
            call = _begin(function, options, args, kwargs)
            try:
                result = await function(*args, **kwargs)
            except BaseException as error:
                _end(call, None, error)
                raise
            _end(call, result, None)
            return result

    else:

        def wrapper(*args, **kwargs):
            call = _begin(function, options, args, kwargs)
            try:
                result = function(*args, **kwargs)
            except BaseException as error:
                _end(call, None, error)
                raise
            if inspect.isawaitable(result):
                return _awaited(call, result)
            _end(call, result, None)
            return result

    try:
        functools.update_wrapper(wrapper, function)
    except Exception:
        pass  # an object that has no such attributes
    wrapper.__name__ = options["name"]
    return wrapper


def _is_async(function):
    call = getattr(function, "func", function)
    return inspect.iscoroutinefunction(call) or inspect.iscoroutinefunction(getattr(type(call), "__call__", None))


def _named(function):
    inner = getattr(function, "func", None)
    return getattr(inner, "__name__", None) or type(function).__name__


async def _awaited(call, awaitable):
    try:
        result = await awaitable
    except BaseException as error:
        _end(call, None, error)
        raise
    _end(call, result, None)
    return result


# ---- one call ---------------------------------------------------------------------------------------------------------


def _begin(function, options, args, kwargs):
    """What is asked, before the function can change it. None where that fails: the call itself goes on."""
    try:
        if _target(options) is None:
            return None
        given = _arguments(function, args, kwargs)
        asked = _asked(given)
        step, stepless = _step_of(given, options, len(asked))
        with _state.lock:
            places = [_place(step, _use(), one, options) for one in asked]
            _state.calls += 1
            number = _state.calls
        return {
            "options": options,
            "asked": asked,
            "places": places,
            "step": step,
            "stepless": stepless,
            "number": number,
            "began": time.time(),
            "clock": time.perf_counter(),
        }
    except Exception as error:
        _failed(error)
        return None


def _end(call, result, error):
    if call is None:
        return
    try:
        milliseconds = (time.perf_counter() - call["clock"]) * 1000
        count = len(call["asked"])
        verdicts = [(None, {})] * count if error is not None else _verdicts(result, count)
        lines = [_line(call, at, verdicts[at], error, milliseconds) for at in range(count)]
        _append(_target(call["options"]), "rollouts", lines)
    except Exception as failure:
        _failed(failure)


def _arguments(function, args, kwargs):
    """By name, whichever way they were given; those of **kwargs among them."""
    try:
        signature = inspect.signature(function)
        bound = signature.bind_partial(*args, **kwargs).arguments
        given = {}
        for name, value in bound.items():
            if signature.parameters[name].kind is inspect.Parameter.VAR_KEYWORD:
                given.update(value)
            else:
                given[name] = value
        return given
    except (TypeError, ValueError):
        return {**{"argument_%d" % at: value for at, value in enumerate(args)}, **kwargs}


def _asked(given):
    """A dict a rollout: prompt, response, data, key (what makes its task), arm."""
    if "completions" in given or "completion_ids" in given:
        return _asked_trl(given)
    if "queries" in given:
        return _asked_openrlhf(given)
    if "solution_strs" in given:
        names = {"solution_str": "solution_strs", "data_source": "data_sources", "ground_truth": "ground_truths", "extra_info": "extra_infos"}
        count = len(_listed(given["solution_strs"]))
        columns = {one: _column(given.get(many), count) for one, many in names.items()}
        return [_asked_verl({one: column[at] for one, column in columns.items()}) for at in range(count)]
    if any(name in given for name in SOLUTION):
        return [_asked_verl(given)]
    return [_asked_plain(given)]


def _asked_trl(given):
    completions = _listed(given["completions"] if "completions" in given else given["completion_ids"])
    count = len(completions)
    prompts = _column(given.get("prompts"), count)
    columns = {
        name: _listed(values)
        for name, values in given.items()
        if name not in HANDED and isinstance(values, (list, tuple)) and len(values) == count
    }
    # The task as a curriculum of Gradus drew it.
    drawn = columns.pop("gradus", None) or [None] * count
    asked = []
    for at in range(count):
        data = {name: _plain(values[at]) for name, values in columns.items()}
        if isinstance(prompts[at], list):
            data["messages"] = _plain(prompts[at])
        prompt = _text(prompts[at])
        # Columns of a project that Gradus wrote.
        arm = data.pop("gradus_arm", None)
        data.pop("gradus_source", None)
        if isinstance(drawn[at], dict):
            arm = drawn[at].get("arm")
        asked.append({"prompt": prompt, "response": _text(completions[at]), "data": data, "key": prompt, "arm": arm})
    return asked


def _asked_openrlhf(given):
    queries = _listed(given["queries"])
    prompts = _column(given.get("prompts"), len(queries))
    labels = _column(given.get("labels"), len(queries))
    asked = []
    for query, prompt, label in zip(queries, prompts, labels):
        text, prompt = _text(query), _text(prompt)
        response = text[len(prompt) :] if prompt and text.startswith(prompt) else text
        asked.append({"prompt": prompt, "response": response, "data": _truth(label), "key": prompt, "arm": None})
    return asked


def _asked_verl(given):
    extra = given.get("extra_info")
    extra = extra if isinstance(extra, dict) else {}
    source, truth = given.get("data_source"), given.get("ground_truth")
    response = next((given[name] for name in SOLUTION if given.get(name) is not None), None)
    prompt = next((extra[name] for name in PROMPTS if isinstance(extra.get(name), (str, list))), None)
    data = {name: _plain(value) for name, value in extra.items() if name != "gradus_rollout"}
    data.update(_truth(truth))
    if source is not None:
        data["data_source"] = _plain(source)
    key = prompt if prompt is not None else [source, truth, extra.get("index")]
    split = extra.get("split")
    return {
        "prompt": None if prompt is None else _text(prompt),
        "response": _text(response),
        "data": data,
        "key": json.dumps(_plain(key), sort_keys=True),
        "arm": source if isinstance(source, str) else None,
        "evaluates": isinstance(split, str) and split in ("test", "val", "validation", "eval"),
        # Of a caller that scores several responses at the same time: what tells them apart.
        "rollout": extra.get("gradus_rollout"),
    }


def _asked_plain(given):
    answer = next((name for name in ANSWERS if isinstance(given.get(name), (str, list))), None)
    if answer is None:
        answer = next((name for name, value in given.items() if isinstance(value, str) and name not in PROMPTS), None)
    prompt = next((name for name in PROMPTS if isinstance(given.get(name), (str, list)) and name != answer), None)
    data = {name: _plain(value) for name, value in given.items() if name not in (answer, prompt) and name not in HANDED}
    truth = next((data[name] for name in TRUTHS if name in data), None)
    key = _text(given[prompt]) if prompt is not None else json.dumps(truth if truth is not None else data, sort_keys=True)
    return {
        "prompt": None if prompt is None else _text(given[prompt]),
        "response": "" if answer is None else _text(given[answer]),
        "data": data,
        "key": key,
        "arm": None,
    }


def _truth(value):
    if value is None:
        return {}
    plain = _plain(value)
    return {"ground_truth": plain, "answer": plain if isinstance(plain, str) else json.dumps(plain)}


def _step_of(given, options, count):
    """The step as trainers count, from 1, and whether nothing says which it is."""
    state = given.get("trainer_state")
    step = getattr(state, "global_step", None)
    if isinstance(step, int):
        # Its metrics are logged when it has been made.
        return step if _use() == "evaluate" else step + 1, False
    for known in (_state.step, os.environ.get("GRADUS_STEP")):
        if known is not None:
            return int(known), False
    if options["rollouts_per_step"]:
        with _state.lock:
            seen = _state.seen.get(options["name"], 0)
            _state.seen[options["name"]] = seen + count
        return seen // int(options["rollouts_per_step"]) + 1, False
    return 0, True


def _use():
    model = _state.model() if _state.model is not None else None
    return "evaluate" if getattr(model, "training", True) is False else "train"


def _place(step, use, asked, options):
    """Task, group, index in it, and use. Each function counts for itself, so those of one rollout are equal. A rollout that
    is named has its place from the first function that sees it."""
    use = "evaluate" if asked.get("evaluates") else use
    task = hashlib.sha256(asked["key"].encode("utf-8", "backslashreplace")).hexdigest()[:12]
    rollout = asked.get("rollout")
    steps = _state.counts.setdefault(options["name"] if rollout is None else "", {})
    for old in [one for one in steps if one < step - 1]:
        del steps[old]
    counts = steps.setdefault(step, {})
    if rollout is None:
        count = counts.get((task, use), 0)
        counts[task, use] = count + 1
    else:
        places = counts.setdefault((task, use), {})
        count = places.setdefault(rollout, len(places))
    name = task if use == "train" else "held-out-" + task
    size = options["group_size"] or _state.group_size
    if not size:
        return task, name, count, use
    return task, name if count < size else "%s.%d" % (name, count // size), count % size, use


def _line(call, at, verdict, error, milliseconds):
    asked, (task, group, index, use) = call["asked"][at], call["places"][at]
    term = call["options"]["name"]
    value, components = verdict
    row = {"step": call["step"], "time": round(call["began"], 3)}
    if call["stepless"]:
        row["stepless"] = True
    row["use"] = use
    row.update(group=group, index=index, rewards={} if error is not None else {term: value})
    if error is not None:
        row["errors"] = {term: ("%s: %s" % (type(error).__name__, error))[:4000]}
    if call["options"]["weight"] is not None:
        row["weights"] = {term: call["options"]["weight"]}
    row["task"] = {"env": "hook", "arm": asked["arm"] or "hook", "id": task, "data": asked["data"]}
    if asked["prompt"] is not None:
        row["prompt"] = asked["prompt"]
    row["response"] = asked["response"]
    if components:
        row["components"] = {term: components}
    row.update(call=call["number"], ms=round(milliseconds, 3), batch=len(call["asked"]))
    try:
        text = json.dumps(row, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    except (TypeError, ValueError):
        row["task"]["data"] = {"unreadable": _short(asked["data"])}
        text = json.dumps(row, ensure_ascii=False, separators=(",", ":"), default=_short)
    # A lone half of a surrogate pair becomes an escape, which JSON allows.
    return text.encode("utf-8", "backslashreplace") + b"\n"


# ---- values -----------------------------------------------------------------------------------------------------------


def _verdicts(result, count):
    """(reward, other numbers) of each rollout, whatever the function answers with."""
    result = _open(result)
    if isinstance(result, dict) and "rewards" in result:
        extra = _open(result.get("extra_logs"))
        extra = extra if isinstance(extra, dict) else {}
        rewards = _column(result["rewards"], count)
        columns = {name: _column(values, count) for name, values in extra.items()}
        return [
            (_number(rewards[at]), {name: one for name, one in ((name, _number(column[at])) for name, column in columns.items()) if one is not None})
            for at in range(count)
        ]
    results = list(result) if isinstance(result, (list, tuple)) else [result]
    if len(results) != count:
        raise ValueError("%d rewards for %d rollouts" % (len(results), count))
    return [_verdict(one) for one in results]


def _verdict(value):
    value = _open(value)
    if not isinstance(value, dict):
        score = getattr(value, "score", None)
        return _number(value if score is None else score), {}
    score = next((value[name] for name in ("score", "reward") if name in value), None)
    others = {name: _number(one) for name, one in value.items() if name not in ("score", "reward")}
    return _number(score), {name: one for name, one in others.items() if one is not None}


def _open(value):
    """Lists of an array or a tensor."""
    return value.tolist() if hasattr(value, "tolist") else value


def _number(value):
    value = _open(value)
    if isinstance(value, (list, tuple)) and len(value) == 1:
        value = value[0]
    if isinstance(value, bool):
        return int(value)
    if isinstance(value, int):
        return value
    if not isinstance(value, float):
        return None
    if math.isnan(value):
        return "NaN"
    return value if not math.isinf(value) else "Infinity" if value > 0 else "-Infinity"


def _listed(values):
    values = _open(values)
    return list(values) if isinstance(values, (list, tuple)) else [values]


def _column(values, count):
    values = _open(values)
    listed = list(values) if isinstance(values, (list, tuple)) else [values]
    return listed if len(listed) == count else [values] * count if not isinstance(values, (list, tuple)) else [None] * count


def _text(value):
    """Of a conversation what its messages say; who says it where there are several."""
    if isinstance(value, str):
        return value
    if value is None:
        return ""
    if isinstance(value, list) and value and all(isinstance(one, dict) for one in value):
        parts = [(str(one.get("role", "")), _content(one.get("content"))) for one in value]
        return parts[0][1] if len(parts) == 1 else "\n\n".join("%s: %s" % part for part in parts)
    return json.dumps(_plain(value), ensure_ascii=False)


def _content(content):
    if isinstance(content, str):
        return content
    if isinstance(content, list):
        return "".join(one.get("text", "[%s]" % one.get("type", "part")) if isinstance(one, dict) else str(one) for one in content)
    return "" if content is None else json.dumps(_plain(content), ensure_ascii=False)


def _plain(value, depth=0):
    """As JSON can hold it; what it cannot is shown in short."""
    if value is None or isinstance(value, (str, bool, int)):
        return value
    if isinstance(value, float):
        return _number(value)
    if depth < DEEP:
        if isinstance(value, dict):
            return {str(key): _plain(one, depth + 1) for key, one in value.items()}
        if isinstance(value, (list, tuple, set)):
            return [_plain(one, depth + 1) for one in value]
        if hasattr(value, "tolist") and _size(value) <= LARGE:
            return _plain(value.tolist(), depth + 1)
    return _short(value)


def _size(value):
    count = getattr(value, "numel", None)
    return count() if callable(count) else getattr(value, "size", LARGE + 1)


def _short(value):
    try:
        return repr(value)[:SHOWN]
    except Exception:
        return "a %s" % type(value).__name__


# ---- files ------------------------------------------------------------------------------------------------------------


def _target(options):
    folder = (options or {}).get("folder") or os.environ.get("GRADUS_ROLLOUTS") or FOLDER
    return None if folder == "off" else folder


class _File:
    """Appends whole lines. After a write that ended within one, the next begins on a line of its own."""

    def __init__(self, path):
        self.path = path
        self.torn = False
        self.descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | getattr(os, "O_BINARY", 0), 0o644)

    def append(self, lines):
        data = (b"\n" if self.torn else b"") + b"".join(lines)
        while data:
            written = os.write(self.descriptor, data)
            self.torn = data[written - 1 : written] != b"\n"
            data = data[written:]


def _append(folder, kind, lines):
    with _state.lock:
        if _state.pid != os.getpid():
            _forked()
        file = _state.files.get((folder, kind))
        if file is None:
            os.makedirs(folder, exist_ok=True)
            machine = "".join(one if one.isalnum() else "-" for one in socket.gethostname())[:40]
            name = "%s-%s-%d-%d.jsonl" % (kind, machine, os.getpid(), int(time.time() * 1000))
            file = _state.files[folder, kind] = _File(os.path.join(folder, name))
        file.append(lines)


def _failed(error):
    _complain("rollouts are not being recorded, and training goes on: %s: %s" % (type(error).__name__, error))


def _complain(text):
    """Once a process. What cannot even be said is dropped."""
    if _state.complained:
        return
    _state.complained = True
    try:
        sys.stderr.write("gradus_hook: %s\n" % text[:1000])
        sys.stderr.flush()
    except Exception:
        pass


# ---- TRL --------------------------------------------------------------------------------------------------------------


def _of_first_process(value):
    """What the first of several processes says: all end after the same step."""
    torch = sys.modules.get("torch")
    distributed = getattr(torch, "distributed", None)
    if distributed is None or not distributed.is_available() or not distributed.is_initialized():
        return value
    said = [value]
    distributed.broadcast_object_list(said, src=0)
    return said[0]


def trl_callback(folder=None, stop=None):
    """For `callbacks=[…]` of a TRL trainer: its metrics and settings, the size of its groups, and which rollouts evaluate.

    stop: a file that asks the training to save and to end after the present step, when somebody makes it.
    """
    return _Callback(folder, stop)


class _Callback:
    """Has every event of transformers' TrainerCallback without importing it."""

    def __init__(self, folder=None, stop=None):
        self.options = {"folder": folder}
        self.stop = stop

    def __getattr__(self, name):
        if name.startswith("on_"):
            return lambda *args, **kwargs: None
        raise AttributeError(name)

    def on_train_begin(self, args, state, control, **kwargs):
        try:
            _state.group_size = getattr(args, "num_generations", None)
            model = kwargs.get("model")
            _state.model = None if model is None else weakref.ref(model)
            if getattr(state, "is_world_process_zero", True):
                self.about(args, None)
        except Exception as error:
            _failed(error)

    def on_step_begin(self, args, state, control, **kwargs):
        _state.step = getattr(state, "global_step", 0) + 1

    def on_step_end(self, args, state, control, **kwargs):
        try:
            if self.stop is not None and _of_first_process(os.path.exists(self.stop)):
                control.should_save = True
                control.should_training_stop = True
        except Exception as error:
            _failed(error)
        return control

    def on_log(self, args, state, control, logs=None, **kwargs):
        try:
            folder = _target(self.options)
            if folder is None or not logs or not getattr(state, "is_world_process_zero", True):
                return
            values = {name: one for name, one in ((name, _number(value)) for name, value in logs.items()) if one is not None}
            line = {"step": getattr(state, "global_step", 0), "time": round(time.time(), 3), "data": values}
            _append(folder, "metrics", [json.dumps(line).encode("utf-8") + b"\n"])
        except Exception as error:
            _failed(error)

    def on_train_end(self, args, state, control, **kwargs):
        try:
            if getattr(state, "is_world_process_zero", True):
                self.about(args, time.time())
        except Exception as error:
            _failed(error)

    def about(self, args, ended):
        """`training.json`, whole or not at all."""
        folder = _target(self.options)
        if folder is None:
            return
        settings = args.to_dict() if hasattr(args, "to_dict") else {}
        secret = ("token", "key", "password", "secret")
        content = {
            "trainer": "trl",
            "version": getattr(sys.modules.get("trl"), "__version__", None),
            "name": getattr(args, "run_name", None),
            "started": getattr(self, "started", None) or time.time(),
            "ended": ended,
            "arguments": {name: _plain(value) for name, value in settings.items() if not any(name.endswith(one) for one in secret)},
        }
        self.started = content["started"]
        os.makedirs(folder, exist_ok=True)
        path = os.path.join(folder, "training.json")
        with open(path + ".part", "w", encoding="utf-8") as file:
            json.dump(content, file, ensure_ascii=True, indent=1)
        os.replace(path + ".part", path)
