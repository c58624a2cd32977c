"""The tasks of this project as verifiers has them: what the policy is asked, and what reward.py gives its response.

prime-rl finds this file by its name, the taskset's id in rl.toml: launch.sh puts the folder on PYTHONPATH.
"""
import asyncio
import json
import os
import sys
import threading
from pathlib import Path
from typing import Any, Literal

import verifiers.v1 as vf

HERE = Path(__file__).resolve().parent

# The system message of a chat.
SYSTEM = None
# Whether service/ draws the tasks by what became of those before, and scores what Python cannot. It needs Node 20 or newer;
# GRADUS_SERVICE=off trains on train.jsonl without it, as MISSING.md says.
SERVICE = False


class GradusData(vf.TaskData):
    gradus: str
    """What rewards read: the prompt, the answer, where the task is from, and its fields, as JSON."""


class GradusTask(vf.Task[GradusData]):
    @vf.reward
    async def terms(self, trace: vf.Trace) -> dict[str, float]:
        """Records each term under its own name; one that is not for this task has no value. One that fails is an error of the rollout."""
        given = await asyncio.to_thread(scored, json.loads(self.data.gradus), said(trace), trace.num_output_tokens)
        for name, value, weight in given:
            if value is None:
                trace.rewards[name] = None
            else:
                trace.record_reward(name, value, weight)
        return {}


class GradusConfig(vf.TasksetConfig):
    split: Literal["train", "val"] = "train"
    algorithm: dict[str, Any] = {}
    """What gradus_algorithm.py does in the place of prime-rl's algorithm; nothing: that is the config's own."""


class GradusTaskset(vf.Taskset[GradusTask, GradusConfig]):
    def load(self) -> list[GradusTask]:
        split = self.config.split
        with open(HERE / (split + ".jsonl"), encoding="utf-8") as lines:
            tasks = [task_of(json.loads(line), index, self.config.task) for index, line in enumerate(lines)]
        # Of prime-rl's processes the orchestrator alone loads tasks, before it decides which are asked.
        if split == "train" and "prime_rl.orchestrator.orchestrator" in sys.modules:
            from curriculum import install

            install(self.config)
        return tasks


def task_of(row, index, config=None):
    """index: no two tasks of a training have the same."""
    own = {name: row.get(name) for name in ("id", "prompt", "answer", "source", "arm", "data")}
    return GradusTask(GradusData(idx=index, prompt=row["prompt"], system_prompt=SYSTEM, gradus=json.dumps(own)), config)


def said(trace):
    """What the policy wrote. verifiers keeps a reasoning apart from what follows it."""
    if not trace.assistant_messages:
        return ""
    message = trace.assistant_messages[-1]
    content = message.content if isinstance(message.content, str) else ""
    if not message.reasoning_content:
        return content
    return "<think>" + message.reasoning_content + ("</think>" + content if content else "")


def scored(task, response, tokens):
    if served():
        reward_address()
    from reward import rewards

    return rewards(task, response, tokens)


def served():
    return SERVICE and os.environ.get("GRADUS_SERVICE") != "off"


ASKS = threading.Lock()


def reward_address():
    """Asked once: where the service scores that the orchestrator has started."""
    with ASKS:
        if os.environ.get("GRADUS_REWARD_URL"):
            return
        os.environ.setdefault("GRADUS_SERVICE", str(HERE / "out" / "curriculum" / "service.json"))
        os.environ["GRADUS_REWARD_URL"] = client().reward_url()


def client():
    sys.path.insert(0, str(HERE / "service"))
    from gradus_curriculum import Curriculum

    return Curriculum(project=str(HERE))


__all__ = ["GradusTaskset"]
