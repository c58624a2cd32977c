"""Which tasks prime-rl asks, and when: a step's tasks, as soon as the weights are there that it trains.

prime-rl alone generates a batch ahead of the update. `install` changes that before it begins: the orchestrator waits for the
weights of its last batch, and `InStep` hands out no more tasks than the batch needs. So rollouts are of the weights that they
train, and every outcome is known before the next step is drawn.
"""
import json
import math

from gradus_tasks import client, served, task_of
from prime_rl.orchestrator.algo.base import iter_trainable_traces
from prime_rl.orchestrator.curriculum import TaskSampler
from prime_rl.orchestrator.train_source import TrainSource

# Groups of a batch.
PROMPTS = 0
# Whether rollouts of advantage 0 are taken out of a full batch, which is not sent where none is left.
FILTERED = False


class Rows:
    """The tasks of train.jsonl in their order, and from the first again."""

    def __init__(self, tasks):
        self.tasks = [json.loads(task.data.gradus) for task in tasks]
        self.at = 0

    def restore(self, step, at):
        self.at = at

    def draw(self, step, round, number):
        found = [self.tasks[(self.at + one) % len(self.tasks)] for one in range(number)]
        self.at += number
        return found

    def observe(self, step, groups):
        return {}


class Served:
    """Tasks that service/ draws, whose first step is 0."""

    at = 0

    def __init__(self):
        self.curriculum = client()
        self.terms = set(self.curriculum.state()["terms"])

    def restore(self, step, at):
        self.curriculum.restore(step - 2)

    def draw(self, step, round, number):
        return self.curriculum.draw(step - 1, number, round)

    def observe(self, step, groups):
        outcomes = [{"task": row["id"], **self.outcome(traces)} for row, traces in groups]
        return self.curriculum.observe(step - 1, outcomes, trainer_step=step)["metrics"]

    def outcome(self, traces):
        """One that failed has no reward."""
        names = {name for trace in traces for name in trace.rewards}
        by_term = names <= self.terms
        total = [None if trace.has_error else trace.reward for trace in traces]
        terms = {name: [None if trace.has_error else score(trace.rewards.get(name)) for trace in traces] for name in names}
        return {
            "rewards": terms if by_term and terms else total,
            "lengths": [trace.num_output_tokens for trace in traces],
            "responses": [trace.last_reply for trace in traces],
        }


def score(reward):
    return None if reward is None else reward.score


class Steps(TaskSampler):
    """Hands out the tasks of one step, and more of them where groups are rejected or rollouts fail."""

    def __init__(self, source, config, group):
        self.source, self.config = source, config
        # Rollouts of a group, and of a batch.
        self.group, self.batch = group, group * PROMPTS
        self.step, self.restored = None, {}
        self.handed = 0
        self.said = {}

    def begin(self, step):
        """The batch that is collected from now on."""
        if step == self.step:
            return
        if self.step is None:
            self.source.restore(step, self.restored.get("at", 0))
        else:
            self.report()
        self.step, self.reported = step, False
        # Drawn and not handed out; handed out, by key; groups whose outcome is known.
        self.queue, self.open, self.known = [], {}, []
        # Rollouts that are in the batch, and whether one of them has an advantage.
        self.trained, self.useful = 0, False
        self.round = -1

    @property
    def waits(self):
        """Whether outcomes of what was handed out come first, or the full batch has to be sent."""
        full = self.trained >= self.batch and (self.useful or not FILTERED)
        return not self.queue and (full or bool(self.open))

    def __next__(self):
        if not self.queue:
            self.round += 1
            if self.trained >= self.batch:
                self.trained -= self.batch
            missing = math.ceil((self.batch - self.trained) / self.group)
            self.queue = list(self.source.draw(self.step, self.round, missing))
            if not self.queue:
                raise RuntimeError("step %d has no more tasks: every source is used up" % self.step)
        row = self.queue.pop(0)
        task = task_of(row, self.handed, self.config)
        self.handed += 1
        self.open[task.key] = row
        return task

    def observe(self, group):
        row = self.open.pop(group[0].task.key, None)
        # Of an earlier batch, which was full without it.
        if row is not None:
            self.known.append((row, [trace for episode in group for trace in episode.traces if trace.agent.trainable]))

    def admitted(self, group):
        for _, trace in iter_trainable_traces(group):
            self.trained += 1
            self.useful = self.useful or any(value != 0 for node in trace.nodes for value in node.advantages or [])

    def report(self):
        if self.step is not None and not self.reported:
            self.said = self.source.observe(self.step, self.known)
            self.reported = True

    def state_dict(self):
        # A batch is saved once it has been sent: its outcomes are known.
        self.report()
        return {"at": self.source.at}

    def load_state_dict(self, state):
        self.restored = dict(state)

    def metrics(self):
        # Asked for when the batch has been sent.
        self.report()
        return {name.removeprefix("curriculum/"): float(value) for name, value in self.said.items()}


class InStep(TrainSource):
    """prime-rl's source of one environment, with `Steps` as its sampler."""

    def __init__(self, train_envs):
        super().__init__(train_envs)
        (env,) = self.envs
        (curriculum,) = self.curricula.values()
        # The standard sampler has them all.
        tasks = curriculum.sampler.tasks
        taskset = env.config.env.taskset
        self.steps = Steps(Served() if served() else Rows(tasks), taskset.task, env.config.group_size)
        curriculum.sampler = self.steps
        if taskset.algorithm:
            from gradus_algorithm import Advantages

            env.algorithm = Advantages(env.config.algo, env.algorithm.policy_pool, taskset.algorithm)

    def next_task(self, *, step):
        """None: prime-rl asks again."""
        self.steps.begin(step)
        return None if self.steps.waits else super().next_task(step=step)

    def on_result(self, group):
        admitted = super().on_result(group)
        if admitted:
            self.steps.admitted(group)
        return admitted

    def metrics(self):
        """Arms have the names of Gradus's charts."""
        (env,) = self.envs
        before = "curriculum/%s/sampler/" % env.name
        return {name.replace(before, "curriculum/", 1): value for name, value in super().metrics().items()}


def install(taskset):
    """In the orchestrator's process, before it makes its source of tasks."""
    from prime_rl.orchestrator import orchestrator

    for name in ("TARGET_LAG", "TrainSource", "TrainSink"):
        if not hasattr(orchestrator, name):
            raise RuntimeError("this prime-rl's orchestrator has no %s: check.json says for which release the project was written" % name)
    orchestrator.TARGET_LAG = 0
    orchestrator.TrainSource = InStep
    if taskset.algorithm:
        from gradus_algorithm import Normalised

        orchestrator.TrainSink = Normalised
