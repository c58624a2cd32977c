"""The curriculum of a Gradus project, for whoever trains it. One file, the standard library alone, CPython 3.8 or later.

    from gradus_curriculum import Curriculum

    curriculum = Curriculum()                       # starts service/service.mjs under Node 20 or newer
    tasks = curriculum.draw(step=0, prompts=8)      # [{"id", "arm", "prompt", "answer", "data", ...}]
    curriculum.observe(step=0, groups=[{"task": task["id"], "rewards": [1.0, 0.0]} for task in tasks])

With TRL:

    from gradus_curriculum import Curriculum, trl_dataset, trl_trainer

    curriculum = Curriculum()
    trainer = trl_trainer(GRPOTrainer, curriculum)(
        args=args, train_dataset=trl_dataset(curriculum, args), reward_funcs=[...], model=...)

`args` has `shuffle_dataset=False` and a `max_steps`. A step of the curriculum is a generation of TRL. GRADUS_SERVICE names the ready
file of a service that runs already, GRADUS_NODE another Node. What the service says is in out/curriculum/service.log.
"""
import atexit
import collections
import json
import math
import os
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request

# Seconds that the service has to start, that one answer may take, and that it has to end.
START, ANSWER, END = 60, 600, 10
# Times that a question is asked again where no answer comes, and the pause before the first, in seconds.
TRIES, PAUSE = 4, 0.2
# Steps whose tasks are remembered.
REMEMBERED = 4


class CurriculumError(RuntimeError):
    """What the service refuses. `code` names the kind; `expected` the step that it waits for, where that is the matter."""

    def __init__(self, message, code=None, expected=None):
        super().__init__(message)
        self.code = code
        self.expected = expected


class Curriculum:
    """Draws tasks and takes outcomes. Every question may be asked again: the same one has the same answer."""

    def __init__(self, project=None, state=None, node=None, starts=True):
        """project: the exported folder, by default the one that this file's folder is in. state: by default out/curriculum in it.

        starts: whether it may start the service; else it waits for the one that another process starts.
        """
        here = os.path.dirname(os.path.abspath(__file__))
        self.project = os.path.abspath(project or (os.path.dirname(here) if os.path.exists(os.path.join(here, "service.mjs")) else here))
        self.folder = os.path.abspath(state or os.path.join(self.project, "out", "curriculum"))
        self.node = node or os.environ.get("GRADUS_NODE") or "node"
        self.log = os.path.join(self.folder, "service.log")
        named = os.environ.get("GRADUS_SERVICE")
        self.ready = named or os.path.join(self.folder, "service.json")
        # Of several processes the first starts it; the others wait for it.
        self._starts = starts and not named and int(os.environ.get("RANK") or os.environ.get("LOCAL_RANK") or 0) == 0
        self._lock = threading.RLock()
        self._process = None
        self._about = None
        self._steps = collections.OrderedDict()
        self._connect()

    # ---- questions ----------------------------------------------------------------------------------------------------

    def draw(self, step, prompts=None, round=0):
        """The step's tasks, in the order drawn. prompts: how many; by default as the config says. round: of further draws of a step."""
        asked = {"step": int(step), "round": int(round)}
        if prompts is not None:
            asked["prompts"] = int(prompts)
        return self._ask("/draw", asked)["tasks"]

    def observe(self, step, groups, metrics=None, trainer_step=None):
        """What became of a step: {"task": id, "rewards": [...] or {term: [...]}, "advantages"?, "lengths"?, "responses"?} a group.

        metrics: further numbers by Gradus's names, for stages that end by them. trainer_step: the trainer's own number of the step.
        Answers with estimates, probabilities and verdicts.
        """
        asked = {"step": int(step), "groups": _plain(groups)}
        if metrics:
            asked["metrics"] = {name: float(value) for name, value in metrics.items() if _is_finite(value)}
        if trainer_step is not None:
            asked["trainer_step"] = int(trainer_step)
        return self._ask("/observe", asked)

    def restore(self, step):
        """Goes back to the end of that step, -1 for the beginning: the trainer goes on from its checkpoint."""
        with self._lock:
            self._steps.clear()
        return self._ask("/restore", {"step": int(step)})

    def score(self, answers):
        """Rewards of answers, {"task": a drawn task, "response": text} each: {"rewards": [...], "terms": {name: [...]}}."""
        return self._ask("/score", {"answers": _plain(answers)})

    def state(self):
        """{"drawn", "observed", "steps", "terms", "scored"}: last steps drawn and observed, steps to restore, reward terms, those scored here."""
        return self._ask("/state")

    def tasks(self, step, prompts):
        """As `draw`, asked once."""
        with self._lock:
            known = self._steps.get(step)
            if known is None or len(known) != prompts:
                known = self._steps[step] = self.draw(step, prompts)
                while len(self._steps) > REMEMBERED:
                    self._steps.popitem(last=False)
            return known

    def reward_url(self):
        """The address of the config's rewards, in the protocol in which OpenRLHF asks a remote reward model."""
        about = self._connect()
        return "%s/reward?token=%s" % (about["url"], about["token"])

    def close(self):
        """Ends the service, if it was started here."""
        with self._lock:
            process, self._process, self._about = self._process, None, None
        if process is not None and process.poll() is None:
            process.terminate()
            try:
                process.wait(END)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()

    # ---- the service --------------------------------------------------------------------------------------------------

    def _ask(self, path, body=None):
        pause = PAUSE
        for attempt in range(TRIES):
            try:
                about = self._connect()
                return self._send(about, path, body)
            except (urllib.error.URLError, ConnectionError, TimeoutError) as error:
                # It has gone, or is going: what it had observed is on the disk.
                with self._lock:
                    self._about = None
                if attempt == TRIES - 1:
                    raise CurriculumError("the curriculum's service gives no answer (%s). %s" % (error, self._advice()))
                time.sleep(pause)
                pause *= 2

    def _send(self, about, path, body):
        data = None if body is None else json.dumps(body, allow_nan=False).encode("utf-8")
        request = urllib.request.Request(about["url"] + path, data=data, headers={"Authorization": "Bearer " + about["token"]})
        try:
            with _opener.open(request, timeout=ANSWER) as answer:
                return json.loads(answer.read().decode("utf-8"))
        except urllib.error.HTTPError as error:
            said = _said(error)
            # A token of a service that has been replaced.
            if error.code == 401:
                raise ConnectionError("the token is of another service")
            action = " " + said["action"] if said.get("action") else ""
            raise CurriculumError("%s.%s" % (said.get("error", str(error)).rstrip("."), action), said.get("code"), said.get("expected"))

    def _connect(self):
        with self._lock:
            if self._about is not None:
                return self._about
            if not self._starts:
                self._about = self._wait(None)
            else:
                self._process = self._start()
                self._about = self._wait(self._process)
            return self._about

    def _start(self):
        if self._process is not None and self._process.poll() is None:
            return self._process
        program = os.path.join(self.project, "service", "service.mjs")
        if not os.path.exists(program):
            raise CurriculumError("there is no %s: export the project again, or name its folder with project=" % program)
        os.makedirs(self.folder, exist_ok=True)
        try:
            os.remove(self.ready)
        except FileNotFoundError:
            pass
        words = [self.node, program, self.project, "--state", self.folder, "--ready", self.ready, "--parent", str(os.getpid())]
        try:
            with open(self.log, "ab") as log:
                process = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True)
        except OSError as error:
            raise CurriculumError(
                "Node could not be started as %r (%s): install Node 20 or newer, or name it in GRADUS_NODE" % (self.node, error.strerror)
            )
        atexit.register(self.close)
        return process

    def _wait(self, process):
        until = time.monotonic() + START
        while time.monotonic() < until:
            about = self._about_there()
            if about is not None and (process is None or about.get("pid") == process.pid):
                return about
            if process is not None and process.poll() is not None:
                raise CurriculumError("the curriculum's service did not start (exit code %s). %s" % (process.returncode, self._advice()))
            time.sleep(0.05)
        raise CurriculumError("the curriculum's service was not ready within %d s (%s). %s" % (START, self.ready, self._advice()))

    def _about_there(self):
        try:
            with open(self.ready, "rb") as file:
                about = json.loads(file.read().decode("utf-8"))
            with _opener.open(about["url"] + "/healthz", timeout=5):
                return about
        except (OSError, ValueError, KeyError):
            return None  # not yet, or of a process that has gone

    def _advice(self):
        try:
            with open(self.log, "rb") as file:
                last = file.read()[-2000:].decode("utf-8", "replace").strip().splitlines()[-3:]
        except OSError:
            last = []
        return "Its log is %s%s" % (self.log, ": " + " | ".join(last) if last else ".")


# Loopback is no matter of a proxy.
_opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))


def _said(error):
    try:
        said = json.loads(error.read().decode("utf-8"))
        return said if isinstance(said, dict) else {}
    except ValueError:
        return {}


def _is_finite(value):
    return isinstance(value, (int, float)) and math.isfinite(value)


def _plain(value):
    """As JSON can hold it; numbers of arrays and tensors among them."""
    if hasattr(value, "tolist"):
        value = value.tolist()
    if isinstance(value, dict):
        return {str(key): _plain(one) for key, one in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(one) for one in value]
    if isinstance(value, float) and not math.isfinite(value):
        return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
    return value


# ---- TRL --------------------------------------------------------------------------------------------------------------
#
# TRL fetches rows by number, in the order of its RepeatSampler: without shuffling, prompts 0 to k-1 are the first generation, k to
# 2k-1 the second. So row number n*k+i is the i-th task of the curriculum's step n, and is drawn when it is first fetched.


def trl_steps(args):
    """(prompts of a generation, optimizer batches that one generation serves) of a GRPOConfig."""
    return args.generation_batch_size // args.num_generations, args.steps_per_generation * args.num_iterations


def trl_dataset(curriculum, args, row=None):
    """A dataset whose rows are drawn as TRL fetches them.

    row: makes a row of a drawn task, by default {"prompt", "answer"}; a column `gradus` with the task itself is added.
    """
    from datasets import Dataset

    if args.max_steps <= 0:
        raise CurriculumError("name how long to train: GRPOConfig(max_steps=...); a curriculum has no last task")
    prompts, serves = trl_steps(args)
    # One is fetched ahead of the last.
    generations = -(-args.max_steps * args.gradient_accumulation_steps // serves) + 2
    make = row or (lambda task: {"prompt": task["prompt"], "answer": task.get("answer")})

    def drawn(batch):
        rows = []
        for slot in batch["gradus_slot"]:
            task = curriculum.tasks(slot // prompts, prompts)
            if slot % prompts >= len(task):
                raise CurriculumError("step %d has only %d of %d tasks: every source is used up" % (slot // prompts, len(task), prompts))
            one = task[slot % prompts]
            rows.append(dict(make(one), gradus=dict(one, step=slot // prompts)))
        # Tasks of several sources have fields of their own.
        names = dict.fromkeys(name for one in rows for name in one)
        return {name: [one.get(name) for one in rows] for name in names}

    return Dataset.from_dict({"gradus_slot": list(range(prompts * generations))}).with_transform(drawn)


def trl_rewards(curriculum, terms=None):
    """The config's rewards that the service scores, as functions for `reward_funcs`, one a term. Python rewards are not among them."""
    names = terms if terms is not None else curriculum.state()["scored"]
    last = {"of": None, "terms": None}

    def function(name):
        def reward(completions, gradus=None, prompts=None, **kwargs):
            # Every function is called with the same list; it is scored once.
            if last["of"] is not completions:
                tasks = gradus or [{"id": _text(one), "source": "", "env": "", "prompt": _text(one), "data": {}} for one in prompts]
                answers = [{"task": task, "response": _text(one)} for task, one in zip(tasks, completions)]
                last["terms"] = curriculum.score(answers)["terms"]
                last["of"] = completions
            return last["terms"].get(name) or [None] * len(completions)

        reward.__name__ = name
        return reward

    return [function(name) for name in names]


def _text(value):
    if isinstance(value, str):
        return value
    return "".join(str(one.get("content") or "") for one in value if isinstance(one, dict))


def trl_trainer(base, curriculum):
    """A GRPOTrainer (or a subclass) whose outcomes the curriculum observes. Groups that it does not admit have no advantage."""
    import torch
    from accelerate.utils import broadcast_object_list, gather_object
    from transformers import TrainerCallback

    class Restores(TrainerCallback):
        def on_train_begin(self, args, state, control, **kwargs):
            _, serves = trl_steps(args)
            if state.is_world_process_zero:
                curriculum.restore(state.global_step * args.gradient_accumulation_steps // serves - 1)
            if torch.distributed.is_available() and torch.distributed.is_initialized():
                torch.distributed.barrier()
            with curriculum._lock:
                curriculum._steps.clear()

    class CurriculumTrainer(base):
        def __init__(self, *positional, **named):
            super().__init__(*positional, **named)
            for name, wanted in (("shuffle_dataset", False), ("dataloader_num_workers", 0), ("ignore_data_skip", False)):
                if getattr(self.args, name) != wanted:
                    raise CurriculumError("a curriculum needs GRPOConfig(%s=%r): TRL fetches its tasks in their order" % (name, wanted))
            terms = curriculum.state()["terms"]
            # Of other functions than the config's terms the whole reward is reported.
            self._gradus_terms = self.reward_func_names if set(self.reward_func_names) <= set(terms) else None
            self.add_callback(Restores())

        def _calculate_rewards(self, inputs, prompts, completions, completion_ids_list):
            rewards = super()._calculate_rewards(inputs, prompts, completions, completion_ids_list)
            if not self.model.training:
                return rewards
            tasks = gather_object([(row["gradus"]["step"], row["gradus"]["id"]) for row in inputs])
            lengths = gather_object([len(ids) for ids in completion_ids_list])
            texts = gather_object([_text(one) for one in completions])
            said = [None]
            if self.accelerator.is_main_process:
                said[0] = self._gradus_observe(tasks, lengths, texts, rewards)
            broadcast_object_list(said)
            if isinstance(said[0], str):
                raise CurriculumError(said[0])
            for at in said[0]:
                rewards[at : at + self.num_generations] = float("nan")
            return rewards

        def _gradus_observe(self, tasks, lengths, texts, rewards):
            """Rows at which groups begin that do not train; a text where the curriculum refuses."""
            size = self.num_generations
            groups, places = [], {}
            for at in range(0, len(tasks), size):
                if len(set(tasks[at : at + size])) > 1:
                    return "the rollouts of a task do not lie together: %s" % (tasks[at : at + size],)
                places[tasks[at][1]] = at
                own = rewards[at : at + size]
                groups.append(
                    {
                        "task": tasks[at][1],
                        "rewards": self._gradus_rewards(own),
                        "lengths": lengths[at : at + size],
                        "responses": texts[at : at + size],
                    }
                )
            try:
                decision = curriculum.observe(tasks[0][0], groups, trainer_step=self.state.global_step + 1)
            except CurriculumError as error:
                return str(error)
            return [places[one["task"]] for one in decision["rejected"]]

        def _gradus_rewards(self, own):
            columns = own.transpose(0, 1).tolist()
            if self._gradus_terms is not None:
                return {name: [None if math.isnan(one) else one for one in column] for name, column in zip(self._gradus_terms, columns)}
            weights = self.reward_weights.tolist()
            totals = []
            for row in own.tolist():
                known = [(weight, one) for weight, one in zip(weights, row) if not math.isnan(one)]
                totals.append(sum(weight * one for weight, one in known) if known else None)
            return totals

    CurriculumTrainer.__name__ = base.__name__
    return CurriculumTrainer


# ---- verl -------------------------------------------------------------------------------------------------------------
#
# verl's dataset and its replay buffer are in the process that runs the training loop. It fetches the rows of a step one after the other,
# waits for all their rollouts, and only then fetches the next. So rows are drawn in the order in which they are fetched, and every
# outcome is known before the next step draws. curriculum.py has verl's classes.


class VerlSteps:
    """The tasks of a training, one after the other, and what became of them."""

    def __init__(self, curriculum, prompts):
        self.curriculum = curriculum
        self.prompts = prompts
        # Who will say what became of the tasks; none is drawn for nobody.
        self.observer = None
        # The step that draws, and how many tasks it has drawn.
        self.step, self.taken = 0, 0
        self._begun = False

    def next(self):
        """The next task, with its `step` and `place`. After a step's own prompts they are further rounds, a task each."""
        if self.observer is None:
            raise CurriculumError(
                "nothing would tell the curriculum what becomes of its tasks: train with trainer.use_v1=true and the "
                "trainer.v1.sampler of config.yaml, or without a curriculum: GRADUS_SERVICE=off"
            )
        if not self._begun:
            # The trainer begins, or goes on from a checkpoint.
            self.curriculum.restore(self.step - 1)
            self._begun = True
        place = self.taken
        if place < self.prompts:
            found = self.curriculum.tasks(self.step, self.prompts)[place:]
        else:
            found = self.curriculum.draw(self.step, 1, round=place - self.prompts + 1)
        if not found:
            raise CurriculumError("step %d has only %d tasks: every source is used up" % (self.step, place))
        self.taken += 1
        return dict(found[0], step=self.step, place=place)

    def observe(self, groups, trainer_step):
        """What became of all groups of the step, each as `Curriculum.observe` takes it, with its `step`. The next one may draw."""
        for group in groups:
            if group["step"] != self.step:
                raise CurriculumError("task %s is of step %s, but step %d is trained" % (group["task"], group["step"], self.step))
        plain = [{name: value for name, value in group.items() if name != "step"} for group in groups]
        decision = self.curriculum.observe(self.step, plain, trainer_step=trainer_step)
        self.step, self.taken = self.step + 1, 0
        return decision

    def state(self):
        """Of a checkpoint."""
        return {"step": self.step}

    def load(self, state):
        self.step, self.taken, self._begun = int(state["step"]), 0, False


_verl = []


def verl_steps(prompts):
    """Those of this process: verl loads the file that asks for them more than once."""
    if not _verl:
        _verl.append(VerlSteps(Curriculum(), prompts))
    return _verl[0]


if __name__ == "__main__":
    print(__doc__, file=sys.stderr)
