"""Scores replies as verifiers does: reads {"file", "task", "rows": [[data, reply]]}, prints [sum of rewards, {name: score}]."""
import asyncio
import importlib.util
import json
import sys

import verifiers.v1 as vf

asked = json.load(sys.stdin)
spec = importlib.util.spec_from_file_location("tasks", asked["file"])
module = importlib.util.module_from_spec(spec)
sys.modules["tasks"] = module
spec.loader.exec_module(module)
kind = getattr(module, asked["task"])


async def scored(row, reply):
    task = kind(kind.data_type()(**row))
    messages = [vf.UserMessage(content=task.data.prompt), vf.AssistantMessage(content=reply)]
    trace = vf.Trace(
        task=vf.TraceTask(type=kind.__name__, data=task.data),
        agent=vf.AgentInfo(config=vf.AgentConfig()),
        nodes=[
            vf.MessageNode(parent=at - 1 if at else None, message=message, sampled=at == 1)
            for at, message in enumerate(messages)
        ],
    )
    await task.score(trace)
    return [trace.reward, {name: each.score for name, each in trace.rewards.items()}]


async def main():
    return [await scored(row, reply) for row, reply in asked["rows"]]


json.dump(asyncio.run(main()), sys.stdout)
