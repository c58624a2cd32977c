"""
Rollouts by verifiers (0.4): its task class, its agent and its client, which calls the policy as it calls any model.
One process for all rollouts (`warm: true`): a line of JSON each way. Needs Python 3.11 or newer: pip install verifiers
"""

import asyncio
import contextlib
import json
import os
import sys

import verifiers.v1 as vf
from openai import AsyncOpenAI


class Data(vf.TaskData):
    answer: str


class Exact(vf.Task[Data]):
    @vf.reward
    async def right(self, trace) -> float:
        return float(trace.last_reply.strip() == self.data.answer)


http = AsyncOpenAI(base_url="http://127.0.0.1", api_key="-", max_retries=0)


class OneCall(vf.Harness[vf.HarnessConfig]):
    """A program that asks once; it runs in this process."""

    EXECUTES_CODE = False
    NEEDS_CONTAINER = False

    async def launch(self, ctx, trace, runtime, endpoint, secret, mcp_urls, data):
        client = http.with_options(base_url=endpoint, api_key=secret)
        await client.chat.completions.create(
            model=ctx.model, messages=[{"role": "user", "content": data.prompt_text}]
        )
        return vf.ProgramResult(exit_code=0, stdout="", stderr="")


def agent_of(work: dict) -> vf.Agent:
    os.environ["GRADUS_KEY"] = work["api_key"]
    agent = vf.make_agent(
        vf.AgentConfig(
            model=work["model"],
            client=vf.EvalClientConfig(base_url=f"{work['url']}/v1", api_key_var="GRADUS_KEY"),
            runtime=vf.SubprocessConfig(),
        )
    )
    agent.harness = OneCall(vf.HarnessConfig())
    return agent


async def play(agent: vf.Agent, work: dict) -> dict:
    task = Exact(Data(prompt=work["prompt"], answer=work["task"]["answer"]), vf.TaskConfig())
    # verifiers names the trace in the header x-session-id, so that Gradus finds the rollout's calls.
    trace = await agent.run(task, on_trace=lambda begun: setattr(begun, "id", work["session"]))
    return {"reward": trace.reward} if trace.ok else {"error": trace.errors[-1].message}


async def answer(agent: vf.Agent, work: dict) -> None:
    try:
        said = await play(agent, work)
    except Exception as error:
        said = {"error": f"{type(error).__name__}: {error}"}
    print(json.dumps({"id": work["id"], **said}), flush=True)


async def main() -> None:
    reader = asyncio.StreamReader(limit=2**24)
    loop = asyncio.get_running_loop()
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
    running = set()
    async with contextlib.AsyncExitStack() as stack:
        agent = None  # One for all: each rollout says whose it is.
        while line := await reader.readline():
            work = json.loads(line)
            agent = agent or await stack.enter_async_context(agent_of(work))
            one = asyncio.create_task(answer(agent, work))
            running.add(one)
            one.add_done_callback(running.discard)
        await asyncio.gather(*running)


asyncio.run(main())
