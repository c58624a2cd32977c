"""
Rollouts by verifiers (0.4): its task class, its agent and its client, which calls the policy as it calls any model.
One process for all rollouts (`warm: true`): a line of JSON each way. Needs Python 3.11 or newer: pip install verifiers
"""

import asyncio
import json
import os
import sys

import verifiers.v1 as vf
from openai import AsyncOpenAI


class SumData(vf.TaskData):
    answer: str


class Sum(vf.Task[SumData]):
    @vf.reward
    async def right(self, trace) -> float:
        return float(trace.last_reply.strip() == self.data.answer)


class OneCall(vf.Harness[vf.HarnessConfig]):
    """A program that asks once; it runs in this process."""

    EXECUTES_CODE = False
    NEEDS_CONTAINER = False

    async def launch(self, ctx, trace, runtime, endpoint, secret, mcp_urls, data):
        async with AsyncOpenAI(base_url=endpoint, api_key=secret, max_retries=0) as client:
            await client.chat.completions.create(
                model=ctx.model, messages=[{"role": "user", "content": data.prompt_text}]
            )
        return vf.ProgramResult(exit_code=0, stdout="", stderr="")


async def play(work: dict) -> dict:
    task = Sum(
        SumData(prompt=work["prompt"], answer=work["task"]["answer"]), vf.TaskConfig()
    )
    os.environ["GRADUS_KEY"] = work["api_key"]
    agent = vf.make_agent(
        vf.AgentConfig(
            model=work["model"],
            client=vf.EvalClientConfig(base_url=work["openai_base_url"], api_key_var="GRADUS_KEY"),
            runtime=vf.SubprocessConfig(),
        )
    )
    agent.harness = OneCall(vf.HarnessConfig())
    async with agent:
        trace = await agent.run(task)
    if not trace.ok:
        return {"error": str(trace.errors[-1])}
    return {"reward": trace.reward}


async def answer(line: str) -> None:
    work = json.loads(line)
    try:
        said = await play(work)
    except Exception as error:
        said = {"error": f"{type(error).__name__}: {error}"}
    print(json.dumps({"id": work["id"], **said}), flush=True)


async def main() -> None:
    reader = asyncio.StreamReader(limit=2**24)
    loop = asyncio.get_running_loop()
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
    running = set()
    while line := await reader.readline():
        one = asyncio.create_task(answer(line.decode()))
        running.add(one)
        one.add_done_callback(running.discard)
    await asyncio.gather(*running)


asyncio.run(main())
