# Parts of an exported reward.py. The export takes those that it needs; `# part: NAME` begins one.

# part: trl_rows
def text(message):
    """Of a completion or a prompt; of messages that of the last, which is the task's own."""
    return message if isinstance(message, str) else message[-1].get("content") or ""


def rows(prompts, completions, completion_ids, columns):
    """A dict a completion: what was asked and answered, its tokens, the task's answer and fields, and where it is from."""
    asked = []
    for at, completion in enumerate(completions):
        data = {name: values[at] for name, values in columns.items() if isinstance(values, list)}
        data.pop("gradus", None)
        own = {name: data.pop("gradus_" + name, None) for name in ("answer", "source", "arm")}
        data = {name: value for name, value in data.items() if value is not None}
        answer = data.get("answer") if own["answer"] is None else own["answer"]
        asked.append(
            {
                "prompt": text(prompts[at]),
                "response": text(completion),
                "ids": list(completion_ids[at]),
                "answer": answer,
                "source": own["source"],
                "data": data,
            }
        )
    return asked


def term(name, score, weight=1.0):
    """A reward as TRL calls it. Every call is recorded in out/gradus-rollouts."""

    @log_rollouts(name=name, weight=weight)
    def reward(prompts, completions, completion_ids, **columns):
        return score(rows(prompts, completions, completion_ids, columns))

    return reward


# part: scored
def scored(name, score, asked, tasks=None):
    """A score a row; None where the term is not for its task, or fails: TRL leaves that out."""
    scores = []
    for row in asked:
        if tasks is not None and row["source"] not in tasks:
            scores.append(None)
            continue
        try:
            scores.append(score(row))
        except Exception as error:
            failed(name, error)
            scores.append(None)
    return scores


def together(name, score, asked, tasks=None):
    """The same by one call for all rows; where it fails, each row is asked for by itself."""
    chosen = [row for row in asked if tasks is None or row["source"] in tasks]
    try:
        scores = list(score(chosen)) if chosen else []
        if len(scores) != len(chosen):
            raise ValueError("%d scores for %d rows" % (len(scores), len(chosen)))
    except Exception:
        return scored(name, lambda row: score([row])[0], asked, tasks)
    by_row = {id(row): one for row, one in zip(chosen, scores)}
    return [by_row.get(id(row)) for row in asked]


def answer(row):
    if row["answer"] is None:
        raise ValueError("the task has no answer")
    return row["answer"]


FAILED = set()


def failed(name, error):
    """Said once a term."""
    if name not in FAILED:
        FAILED.add(name)
        print("reward %s: %s: %s" % (name, type(error).__name__, error), file=sys.stderr)


# part: prime_row
def term(name, score, weight=1.0):
    """A term of the reward."""
    return name, weight, lambda row: score([row])[0]


def failed(name, error):
    """What fails is no reward of 0: verifiers makes it the error of the rollout, which then leaves its group. Without the service what
    it would score is left out."""
    if type(error).__name__ == "NoServer" and os.environ.get("GRADUS_SERVICE") == "off":
        return
    raise RuntimeError("reward %s: %s: %s" % (name, type(error).__name__, error)) from error


def given(terms, combine, task, response, tokens):
    """(name, value, weight) of each term; of a combination the terms weigh nothing, and what it makes of them 1."""
    # Of its tokens only their number is read.
    row = {**task, "response": response, "ids": range(tokens)}
    values = [value_of(reward, weight, row) for _, weight, reward in terms]
    if combine is None:
        return [(name, value, weight) for (name, weight, _), value in zip(terms, values)]
    total = combine([weight for _, weight, _ in terms], values)
    return [(name, value, 0.0) for (name, _, _), value in zip(terms, values)] + [("combined", total, 1.0)]


def value_of(reward, weight, row):
    """A term that weighs nothing fails for itself alone."""
    try:
        return reward(row)
    except Exception as error:
        if weight:
            raise
        print(error, file=sys.stderr)
        return None


# part: lone_row
def row_of(own, response, tokens):
    """What was asked and answered, its tokens, the task's answer and fields, and where it is from."""
    return {
        "prompt": own["prompt"],
        "response": response,
        # Of its tokens only their number is read.
        "ids": range(tokens),
        "answer": own["answer"],
        "source": own["source"],
        "data": own["data"],
    }


def term(name, score, weight=1.0):
    """A term of the reward. Every call is recorded in out/gradus-rollouts."""

    @log_rollouts(name=name, weight=weight)
    def reward(data_source, solution_str, ground_truth, extra_info, row, **_):
        return score([row])[0]

    return name, weight, reward


def summed(weights, values):
    """The weighted sum of the terms that apply."""
    return sum((weight * value for weight, value in zip(weights, values) if value is not None), 0.0)


def given(terms, row, known, **told):
    """What each term gives; None where it does not apply, or fails."""
    asked = {"data_source": row["source"], "solution_str": row["response"], "ground_truth": row["answer"]}
    # The fields of a task as they are recorded next to its rewards.
    extra = {**row["data"], "prompt": row["prompt"], **known}
    return [reward(**asked, extra_info=extra, row=row, **told) for _, _, reward in terms]


def valued(terms, combine, row, known, said=None):
    """The reward, and each term by its name, of one response. A sum of no nulls: a term that does not apply is 0.

    said: is told the terms as they are, and the response.
    """
    values = given(terms, row, known)
    total = combine([weight for _, weight, _ in terms], values)
    if said is not None:
        said.update(terms={name: value for (name, _, _), value in zip(terms, values)}, response=row["response"])
    named = {name: 0.0 if value is None else value for (name, _, _), value in zip(terms, values)}
    return {**named, "score": 0.0 if total is None else total}


# part: verl_row
def scores(terms, combine, solution_str, extra_info):
    """What verl is told of a response."""
    if "gradus_step" in extra_info:
        set_step(extra_info["gradus_step"])
    row = row_of(json.loads(extra_info["gradus"]), solution_str, extra_info.get("gradus_tokens", 0))
    known = {name: extra_info.get(name) for name in ("split", "index")}
    return valued(terms, combine, row, known, extra_info.get("gradus_said"))


# part: openrlhf_row
SEEN = {"step": 1}


def step_of(own):
    """Rows are in the order of the steps. An evaluation is of the step that was generated before it."""
    if own["split"] == "train":
        SEEN["step"] = own["index"] // PROMPTS + 1
    return SEEN["step"]


def outcome(terms, combine, label, response, tokens):
    """What OpenRLHF is told of a response: `reward` trains, and the mean of `scores` says whether its group does."""
    own = json.loads(label)
    known = {name: own[name] for name in ("split", "index")}
    # The hook counts steps as TRL's state does.
    state = SimpleNamespace(global_step=step_of(own) - 1)
    values = given(terms, row_of(own, response, tokens), known, trainer_state=state)
    total = combine([weight for _, weight, _ in terms], values)
    total = 0.0 if total is None else float(total)
    named = {name: value for (name, _, _), value in zip(terms, values) if value is not None}
    found = next((named[name] for name in DECIDING if name in named), None)
    success = (0.0 if found is None or found < LEAST else 1.0) if DECIDING else total
    # The mean over answers to a held-out task is then its pass@1.
    reward = total if own["split"] == "train" else success
    logs = {"reward/" + name: float(named.get(name, 0.0)) for name, _, _ in terms}
    return {"reward": reward, "scores": success, "extra_logs": logs}


# part: exact_match
def exact_match(row, strip=True, ignore_case=False):
    """1 where the response is the task's answer."""

    def normal(one):
        one = one.strip() if strip else one
        return one.lower() if ignore_case else one

    return 1.0 if normal(row["response"]) == normal(answer(row)) else 0.0


# part: numeric
NUMBER = re.compile(r"[-−]?(?:[0-9][0-9,]*(?:\.[0-9]+)?|\.[0-9]+)(?:[eE][-+]?[0-9]+)?")


def last_number(one):
    found = NUMBER.findall(one)
    return float(found[-1].replace(",", "").replace("−", "-")) if found else None


def numeric(row, tolerance=1e-6):
    """1 where the last number of the response is the answer's, within a tolerance."""
    wanted = last_number(answer(row))
    if wanted is None:
        raise ValueError("the answer is no number")
    found = last_number(row["response"])
    return 1.0 if found is not None and abs(found - wanted) <= tolerance * max(1.0, abs(wanted)) else 0.0


# part: verdict
def verdict(row, pattern, ignore_case=False):
    """1 where the last match of the pattern is the task's answer."""
    found = list(re.finditer(pattern, row["response"], re.IGNORECASE if ignore_case else 0))
    if not found:
        return 0.0
    match = found[-1]
    said = match.group(1) if match.re.groups and match.group(1) is not None else match.group(0)
    wanted = answer(row)
    return 1.0 if (said.lower() == wanted.lower() if ignore_case else said == wanted) else 0.0


# part: format
def tags_in_order(response, tags):
    """Each tag opens and closes once, in this order, without overlap."""
    start = 0
    for tag in tags:
        opening, closing = "<%s>" % tag, "</%s>" % tag
        first, last = response.find(opening), response.find(closing)
        if first < start or last < first or response.count(opening) > 1 or response.count(closing) > 1:
            return False
        start = last + len(closing)
    return True


def has_form(row, pattern=None, tags=(), present=1.0, absent=0.0):
    """`present` where the whole response matches the pattern and has the tags, else `absent`."""
    matches = pattern is None or re.fullmatch(pattern, row["response"], re.DOTALL) is not None
    return present if matches and tags_in_order(row["response"], tags) else absent


# part: length
def length(row, shape, limit, cache=0.0, cost=20.0):
    """Rewards brevity, in tokens."""
    tokens = len(row["ids"])
    if shape == "linear":
        return 1 - min(tokens / limit, 1)
    if shape == "limit":
        return 0.0 if tokens <= limit else -1.0
    if shape == "inverse":
        return -cost / max(tokens, 1)
    if tokens <= limit - cache:
        return 0.0
    return (limit - cache - tokens) / cache if tokens <= limit and cache > 0 else -1.0


# part: group_relative
def group_relative(asked):
    """0.5 for the shortest response to a prompt, -0.5 for the longest; 0 where all are as long."""
    lengths = {}
    for row in asked:
        lengths.setdefault(row["prompt"], []).append(len(row["ids"]))

    def one(row):
        least, most = min(lengths[row["prompt"]]), max(lengths[row["prompt"]])
        return 0.0 if least == most else 0.5 - (len(row["ids"]) - least) / (most - least)

    return [one(row) for row in asked]


# part: equation
class Sum:
    """Reads sums, differences, products, quotients and brackets of whole numbers. Values are exact."""

    def __init__(self, expression):
        plain = re.sub("[×·]", "*", expression).replace("÷", "/").replace("−", "-")
        if len(expression) > 512 or re.search(r"[0-9]\s+[0-9]", plain):
            raise SyntaxError("no expression")
        self.rest = re.sub(r"\s+", "", plain)
        self.depth = 0
        self.numbers = []
        self.value = self.sum()
        if self.rest:
            raise SyntaxError("something follows the expression")

    def take(self, signs):
        if self.rest[:1] and self.rest[0] in signs:
            sign, self.rest = self.rest[0], self.rest[1:]
            return sign
        return None

    def sum(self):
        left = self.product()
        sign = self.take("+-")
        while sign:
            right = self.product()
            left = left + right if sign == "+" else left - right
            sign = self.take("+-")
        return left

    def product(self):
        left = self.factor()
        sign = self.take("*/")
        while sign:
            right = self.factor()
            if sign == "/" and right == 0:
                raise SyntaxError("division by zero")
            left = left * right if sign == "*" else left / right
            sign = self.take("*/")
        return left

    def factor(self):
        if self.take("("):
            self.depth += 1
            if self.depth > 64:
                raise SyntaxError("brackets are nested too deep")
            inside = self.sum()
            if not self.take(")"):
                raise SyntaxError("a bracket is not closed")
            self.depth -= 1
            return inside
        digits = re.match("[0-9]{1,15}(?![0-9])", self.rest)
        if digits is None:
            raise SyntaxError("no number")
        self.rest = self.rest[digits.end() :]
        self.numbers.append(int(digits.group()))
        return Fraction(self.numbers[-1])


def equation(row, extract="all", partial=0.0):
    """1 for an expression that uses exactly the given numbers, each once, and has exactly the target's value."""
    numbers, target = row["data"].get("numbers"), row["data"].get("target")
    if numbers is None or target is None:
        raise ValueError("the task has no `numbers` and `target`")
    response = row["response"]
    if extract == "last_line":
        response = response.strip().split("\n")[-1]
    elif extract == "answer_tag":
        found = re.match(r"(?s).*<answer>(.*?)</answer>", response)
        response = found.group(1) if found else ""
    left, *right = response.split("=")
    if len(right) > 1 or (right and right[0].strip() != "%g" % target):
        return 0.0
    try:
        read = Sum(left)
    except SyntaxError:
        return 0.0
    if sorted(read.numbers) != sorted(numbers):
        return 0.0
    return 1.0 if read.value == Fraction(target) else partial


# part: math
def same_value(row):
    """1 where math-verify finds the response's answer to be the task's."""
    wanted = answer(row)
    options = {"parsing_timeout": None}
    gold = math_verify.parse(wanted, **options) or math_verify.parse("\\boxed{%s}" % wanted, **options)
    found = math_verify.parse(row["response"], **options)
    return 1.0 if math_verify.verify(gold, found, timeout_seconds=None) else 0.0


# part: own
HERE = os.path.dirname(os.path.abspath(__file__))


def own(path, name):
    """A function of a file of yours. Files next to it are found as if it were run."""
    file = os.path.join(HERE, path)
    folder = os.path.dirname(file)
    if folder not in sys.path:
        sys.path.insert(0, folder)
    spec = importlib.util.spec_from_file_location("own_" + re.sub(r"\W", "_", path), file)
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    found = module
    for part in name.split("."):
        found = getattr(found, part)
    return found


def call(function, **given):
    """With those of the arguments that it takes; what is async is awaited."""
    parameters = inspect.signature(function).parameters
    if not any(one.kind is inspect.Parameter.VAR_KEYWORD for one in parameters.values()):
        given = {name: value for name, value in given.items() if name in parameters}
    result = function(**given)
    return asyncio.run(result) if inspect.isawaitable(result) else result


def number(result):
    """A number, None, or of a dict its `score`."""
    if isinstance(result, dict):
        result = result["score"]
    if result is None:
        return None
    result = float(result)
    if not isfinite(result):
        raise ValueError("%r is not finite" % result)
    return result


# part: gradus
def by_gradus(function, args, row):
    task = {"prompt": row["prompt"], "answer": row["answer"], "source": row["source"], "data": row["data"]}
    given = {"prompt": row["prompt"], "response": row["response"], "task": task, "length": len(row["ids"]), "args": args}
    return number(call(function, **given, **args))


# part: trl
def by_trl(function, args, messages, asked):
    columns = {name: [row["data"].get(name) for row in asked] for row in asked for name in row["data"]}
    if not any(name in columns for name in ("solution", "answer", "label")):
        columns.update({name: [row["answer"] for row in asked] for name in ("solution", "answer", "label")})
    prompts = [row["prompt"] for row in asked]
    completions = [row["response"] for row in asked]
    if messages:
        prompts = [[{"role": "user", "content": one}] for one in prompts]
        completions = [[{"role": "assistant", "content": one}] for one in completions]
    given = {"prompts": prompts, "completions": completions, "completion_ids": [row["ids"] for row in asked]}
    return [number(one) for one in call(function, **{**columns, **given, **args})]


# part: truth
def truth(row):
    """What verl and OpenRLHF compare with."""
    model = row["data"].get("reward_model")
    found = model.get("ground_truth") if isinstance(model, dict) else row["data"].get("ground_truth")
    return found if found is not None and not isinstance(found, str) else (row["answer"] if row["answer"] is not None else found)


# part: verl
def verl_of(row):
    data = row["data"]
    source = data.get("data_source", row["source"])
    extra = data.get("extra_info") or {}
    return {"data_source": source, "solution": row["response"], "ground_truth": truth(row), "extra_info": extra}


def by_verl(function, args, names, row):
    """`names`: what the function calls a data source, a solution, a ground truth and extra information."""
    given = verl_of(row)
    return number(call(function, **{name: given[role] for role, name in names.items()}, **args))


# part: verl_batch
def by_verl_batch(function, args, names, asked):
    given = [verl_of(row) for row in asked]
    columns = {name: [one[role] for one in given] for role, name in names.items()}
    return [number(one) for one in call(function, **columns, **args)]


# part: openrlhf
def by_openrlhf(function, args, asked):
    given = {
        "queries": [row["prompt"] + row["response"] for row in asked],
        "prompts": [row["prompt"] for row in asked],
        "labels": [truth(row) for row in asked],
    }
    result = call(function, **given, **args)
    return [number(one) for one in (result["rewards"] if isinstance(result, dict) else result)]


# part: reasoning_gym
def by_reasoning_gym(function, args, row):
    found = re.findall(r"(?s)<answer>(.*?)</answer>", row["response"])
    data = row["data"]
    entry = {"question": data.get("question", row["prompt"]), "answer": row["answer"], "metadata": data.get("metadata", data)}
    return number(call(function, answer=found[-1].strip() if found else row["response"], entry=entry, **args))


# part: served
class NoServer(RuntimeError):
    """Nobody was named who scores."""


def asked_of(name, url, asked, log):
    """What a reward server in OpenRLHF's protocol gives; Gradus's own is also asked for one term of its reward."""
    if not url:
        raise NoServer("GRADUS_REWARD_URL names no reward server: MISSING.md says how to start one")
    body = {
        "query": [row["prompt"] + row["response"] for row in asked],
        "prompts": [row["prompt"] for row in asked],
        "labels": [row["answer"] or "" for row in asked],
        "tasks": [{"source": row["source"], "data": row["data"]} for row in asked],
    }
    if log is not None:
        body["term"] = log
    request = urllib.request.Request(url, json.dumps(body).encode(), {"content-type": "application/json"})
    with urllib.request.urlopen(request, timeout=600) as answered:
        reply = json.load(answered)
    for error in reply.get("errors", []):
        failed(name, RuntimeError(error))
    return reply["rewards"]


def served(name, asked, tasks=None, url=None, log=None):
    """What a server gives: its rewards, or one term of them."""
    url = url or os.environ.get("GRADUS_REWARD_URL")
    return together(name, lambda some: asked_of(name, url, some, log), asked, tasks)


# part: product
def product(weights, values):
    """The product of the weighted terms that apply."""
    result = None
    for weight, value in zip(weights, values):
        if weight != 0 and value is not None:
            result = (1.0 if result is None else result) * weight * value
    return result


# part: max
def greatest(weights, values):
    """The greatest of the weighted terms that apply."""
    return max((weight * value for weight, value in zip(weights, values) if weight != 0 and value is not None), default=None)


# part: gate
def gated(weights, values, gates):
    """A weighted sum in which a term counts only where every term before it is above its gate."""
    result, closed = None, False
    for at, (weight, value) in enumerate(zip(weights, values)):
        if value is None:
            continue
        result = (result or 0.0) + (0.0 if closed else weight * value)
        closed = closed or value <= (gates[at] if at < len(gates) else 0.0)
    return result


# part: combined
def combined(name, terms, weights, combine):
    """One reward of several terms, each of which is recorded by itself."""

    def reward(**given):
        columns = [term(**given) for term in terms]
        return [combine(weights, list(values)) for values in zip(*columns)]

    reward.__name__ = name
    return reward
