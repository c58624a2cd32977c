"""
Rollouts by Inspect (inspect-ai 0.3): its own task, solver and scorer, through its OpenAI-compatible provider. One process
for all rollouts (`warm: true`): a line of JSON each way. All that wait are the samples of one evaluation.
pip install inspect-ai openai
"""

import asyncio
import json
import os
import sys
import tempfile

os.environ["INSPECT_DISPLAY"] = "none"  # Standard output is for verdicts.

from inspect_ai import Task, eval_async
from inspect_ai.dataset import Sample
from inspect_ai.scorer import exact, value_to_float
from inspect_ai.solver import Generate, TaskState, solver

LOGS = os.environ.get("INSPECT_LOG_DIR") or tempfile.mkdtemp(prefix="inspect-logs-")


@solver
def ask():
    async def solve(state: TaskState, generate: Generate) -> TaskState:
        # The header says to which rollout a call belongs.
        return await generate(state, extra_headers={"x-session-id": str(state.sample_id)})

    return solve


async def play(works: list[dict]) -> None:
    samples = [
        Sample(id=work["session"], input=work["prompt"], target=work["task"]["answer"]) for work in works
    ]
    [log] = await eval_async(
        Task(dataset=samples, solver=ask(), scorer=exact()),
        model=f"openai-api/gradus/{works[0]['model']}",
        model_base_url=f"{works[0]['url']}/v1",
        model_args={"api_key": works[0]["api_key"]},
        log_dir=LOGS,
        max_samples=len(samples),
        max_connections=len(samples),
        fail_on_error=False,
        ctl_server=False,
    )
    played = {str(sample.id): sample for sample in log.samples or []}
    for work in works:
        sample = played.get(work["session"])
        if sample is None or sample.error is not None:
            error = sample.error if sample is not None else log.error
            said = {"error": error.message if error is not None else f"the evaluation ended as {log.status}"}
        else:
            [score] = (sample.scores or {}).values()
            said = {"reward": value_to_float()(score.value)}
        print(json.dumps({"id": work["id"], **said}), flush=True)


async def main() -> None:
    reader = asyncio.StreamReader(limit=2**24)
    loop = asyncio.get_running_loop()
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
    waiting: list[dict] = []
    came = asyncio.Event()

    async def read() -> None:
        while line := await reader.readline():
            waiting.append(json.loads(line))
            came.set()

    reading = asyncio.create_task(read())
    reading.add_done_callback(lambda _: came.set())
    while await came.wait() and (waiting or not reading.done()):
        # The rollouts of a step come together, and Inspect runs one evaluation at a time.
        await asyncio.sleep(0.05)
        works = waiting[:]
        waiting.clear()
        if not reading.done():
            came.clear()
        try:
            await play(works)
        except Exception as error:
            for work in works:
                print(json.dumps({"id": work["id"], "error": f"{type(error).__name__}: {error}"}), flush=True)


asyncio.run(main())
