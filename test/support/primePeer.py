"""prime-rl's own code on exported projects: `python primePeer.py COMMAND`, with a list of what is asked as JSON on stdin, answers with
a list.

accepts: its configuration of each folder. scores: its tasks and rewards. drives: its dispatcher, curriculum, train sink and loss.
rates: its learning rates.
"""
import asyncio
import ast
import contextlib
import importlib.util
import itertools
import json
import os
import random
import sys
import tempfile
import tomllib
import traceback
import types


def opened(folder, words=()):
    """As its launcher reads rl.toml."""
    from prime_rl.configs.rl import RLConfig
    from prime_rl.utils.config import cli

    os.chdir(folder)
    if folder not in sys.path:
        sys.path.insert(0, folder)
    return cli(RLConfig, args=["@", "rl.toml", *words])


def accepts(asked):
    found = {}
    for folder in asked["folders"]:
        try:
            config = opened(folder, asked.get("words", ()))
            with open("rl.toml", "rb") as file:
                read = tomllib.load(file)
            says = {
                "run_dir": str(config.run_dir),
                "step": config.resume.step if config.resume else None,
                "gpus": config.deployment.num_train_gpus + config.deployment.num_infer_gpus,
                "loss": config.trainer.loss.type,
                "max_norm": config.trainer.optim.max_norm,
                "gates": list((config.orchestrator.train.source[0].curriculum or types.SimpleNamespace(gates=[])).gates),
            }
            found[folder] = {"error": None, "toml": read, "says": says}
        except (SystemExit, Exception) as error:
            found[folder] = {"error": "%s: %s" % (type(error).__name__, error), "toml": None, "says": None}
    return found


def traced(task, response, tokens, logprobs, ok=True):
    """What verifiers records of one response."""
    import verifiers.v1 as vf
    from verifiers.v1.configs.agent import WireAgentConfig
    from verifiers.v1.graph import MessageNode
    from verifiers.v1.trace import AgentInfo, ModelCall

    asked = MessageNode(message=vf.UserMessage(content=task.data.prompt), token_ids=[1, 2], mask=[False, False])
    said = MessageNode(
        parent=0,
        message=vf.AssistantMessage(content=response),
        sampled=True,
        token_ids=[3] * tokens,
        mask=[True] * tokens,
        logprobs=logprobs,
    )
    usage = vf.Usage(prompt_tokens=2, completion_tokens=tokens)
    return vf.WireTrace(
        task=of(task),
        agent=AgentInfo(config=WireAgentConfig()),
        nodes=[asked, said],
        calls=[ModelCall(node=1, usage=usage, finish_reason="stop")],
        ok=ok,
    )


def of(task):
    import verifiers.v1 as vf

    return vf.TraceTask[vf.WireTaskData](type=type(task).__name__, data=task.data.model_dump(), key=task.key, hash=task.hash)


def scores(asked):
    """Of each answer the rewards that its task records, and the prompt of each task as its renderer makes it."""
    import verifiers.v1 as vf

    config = opened(asked["folder"])
    taskset = vf.load_taskset(config.orchestrator.train.source[0].env.taskset)
    held = vf.load_taskset(config.orchestrator.eval.source[0].env.taskset)
    tasks = list(taskset)
    from gradus_tasks import task_of

    async def scored(answer):
        task = task_of(answer["task"], 0)
        # As the environment's server makes it of what it is sent.
        task = type(task)(type(task.data).model_validate(task.data.model_dump(mode="json")))
        trace = traced(task, answer["response"], answer["tokens"], [0.0] * answer["tokens"])
        try:
            await task.score(trace)
        except Exception as error:
            return {"error": "%s: %s" % (type(error).__name__, error), "terms": None, "reward": None}
        terms = {name: None if one is None else one.score for name, one in trace.rewards.items()}
        return {"error": None, "terms": terms, "reward": trace.reward}

    async def all_of():
        return [await scored(one) for one in asked["answers"]]

    from renderers.base import create_renderer
    from transformers import AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(config.orchestrator.model.name)
    renderer = create_renderer(tokenizer, config.orchestrator.renderer)

    def rendered(task):
        messages = [{"role": "user", "content": task.data.prompt}]
        return tokenizer.decode(renderer.render(messages, add_generation_prompt=True).token_ids)

    return {
        "rendered": [rendered(task) for task in tasks],
        "tasks": [[task.data.prompt, task.data.system_prompt, json.loads(task.data.gradus)["id"]] for task in tasks],
        "held": [task.data.prompt for task in held],
        "unique": len({task.key for task in tasks}),
        "scores": asyncio.run(all_of()),
    }


def drives(asked):
    """Its dispatcher asks tasks of ours and its train sink makes batches; rollouts are as they are given.

    asked["steps"]: groups of rollouts by step, in the order in which their tasks are asked; without it every rollout has reward 1.
    """
    import verifiers.v1 as vf
    from prime_rl.orchestrator import train_sink
    from prime_rl.orchestrator.dispatcher import Dispatcher
    from prime_rl.orchestrator.envs import TrainEnvs
    from prime_rl.orchestrator.types import GroupCancellation, Policy, Progress

    config = opened(asked["folder"]).orchestrator
    pool = types.SimpleNamespace(train_client=None, model_name="policy")
    envs = TrainEnvs(config.train.source, config.env_addresses, policy_pool=pool, renderer_config=config.renderer)
    (env,) = envs
    tasks = list(vf.load_taskset(env.config.env.taskset))
    # As `Env.start`, but for the server.
    env.tasks, env.num_tasks = iter(tasks), len(tasks)
    from curriculum import InStep

    sink_class = train_sink.TrainSink
    if env.config.env.taskset.algorithm:
        from gradus_algorithm import Normalised as sink_class

    source = InStep(envs)
    progress, policy = Progress(step=asked.get("step", 1)), Policy(model_name="policy")
    policy.version = progress.step - 1
    if "state" in asked:
        source.load_state_dict({"rng": random.Random(42).getstate(), "envs": asked["state"]})
    sink = sink_class(
        config,
        tokenizer=None,
        train_envs=envs,
        mm_token_type_ids_mapping=None,
        progress=progress,
        batch_size=config.batch_size,
        token_batch_size=None,
        on_result=source.on_result,
    )
    limits = config.concurrency
    dispatcher = Dispatcher(
        train_envs=envs,
        eval_envs=None,
        train_source=source,
        eval_source=None,
        policy_pool=pool,
        policy=policy,
        progress=progress,
        initial_max_inflight=limits.initial_inflight,
        max_inflight_ceiling=limits.max_inflight,
        tasks_per_minute=None,
        max_off_policy_steps=config.max_off_policy_steps,
        run_id="run",
        run_name=None,
    )
    said = {"steps": [], "states": [], "metrics": []}
    order, taken = {}, itertools.count()
    given = asked.get("steps", [])

    async def run(client, model_name, cache_salt, task_data):
        """A rollout, in the place of the environment's server."""
        task = tasks[0].__class__(type(tasks[0].data).model_validate(task_data))
        step = progress.step
        if task.key not in order:
            order[task.key] = [step, sum(at == step for at, _, _ in order.values()), itertools.count()]
            said["steps"].append([step, json.loads(task.data.gradus)["id"]])
        at, group, member = order[task.key][0], order[task.key][1], next(order[task.key][2])
        rollout = {"response": "", "rewards": {"given": 1.0}, "logp": [-1.0], "ok": True}
        with contextlib.suppress(IndexError):
            rollout = given[at - asked.get("step", 1)][group][member]
        trace = traced(task, rollout["response"], len(rollout["logp"]), rollout["logp"], rollout.get("ok", True))
        for name, value in rollout["rewards"].items():
            trace.rewards[name] = None if value is None else vf.Reward(score=value, weight=rollout.get("weights", {}).get(name, 1.0))
        # Groups end in another order than they began.
        for _ in range(next(taken) * 7 % 5):
            await asyncio.sleep(0)
        return vf.WireEpisode(env=vf.EnvInfo(id="train"), task=of(task), ok=trace.ok, traces=[trace])

    env.run = run

    async def train():
        """As the orchestrator's loop: a batch that is full is sent, and the next waits for its weights."""
        going = asyncio.create_task(dispatcher.start())
        batches, idle = [], 0
        while len(batches) < asked["batches"]:
            if going.done():
                going.result()
            try:
                item = await asyncio.wait_for(dispatcher.out_q.get(), timeout=2)
            except asyncio.TimeoutError:
                idle += 1
                if idle > 3:
                    raise RuntimeError("nothing is asked any more in step %d" % progress.step)
                continue
            batch = await (sink.cancel(item) if isinstance(item, GroupCancellation) else sink.add(item))
            if batch is None or not batch.samples:
                continue
            batches.append(batch)
            progress.step += 1
            dispatcher.dispatch_allowed.clear()
            said["states"].append(source.state_dict()["envs"])
            said["metrics"].append(source.metrics())
            policy.version += 1
            await dispatcher.on_version_pending(policy.version)
            dispatcher.dispatch_allowed.set()
        await dispatcher.stop()
        with contextlib.suppress(asyncio.CancelledError):
            await going
        return batches

    batches = asyncio.run(train())
    said["batches"] = [[[sample.advantages, sample.rl_weights, sample.mask] for sample in one.samples] for one in batches]
    said["dropped"] = sink.stale_drops
    if "now" in asked:
        said["loss"] = loss_of(asked, batches[0])
    return said


def loss_of(asked, batch):
    """Of the first batch, whose rollouts are found by their log-probs: the loss and its gradient by each token's log-prob."""
    import torch
    from prime_rl.trainer.rl.loss import compute_loss, setup_rl_loss_fn

    config = opened(asked["folder"]).trainer.loss
    now = {json.dumps(one["logp"]): one["now"] for one in asked["now"]}
    tensor = lambda values: torch.tensor(values, dtype=torch.float32)
    rows = [sample.logprobs for sample in batch.samples]
    said = [[one for one, trains in zip(row, sample.mask) if trains] for row, sample in zip(rows, batch.samples)]
    policy = [tensor([0.0, 0.0] + now[json.dumps(row)]).requires_grad_() for row in said]
    masks = [torch.tensor(sample.mask) for sample in batch.samples]
    weights = None if all(one.rl_weights is None for one in batch.samples) else [
        tensor(one.rl_weights or [1.0] * len(one.mask)) for one in batch.samples
    ]
    scale = sum(int((mask & (weight != 0)).sum()) for mask, weight in zip(masks, weights or masks))
    loss, _ = compute_loss(
        policy,
        [tensor(row) for row in rows],
        None,
        [tensor(sample.advantages) for sample in batch.samples],
        masks,
        weights,
        None,
        None,
        setup_rl_loss_fn(config),
        scale,
        1,
        1,
    )
    loss.backward()
    gradients = [one.grad[mask].tolist() for one, mask in zip(policy, masks)]
    return {"loss": loss.item(), "gradients": [[row, one] for row, one in zip(said, gradients)]}


def rates(asked):
    """By step. prime_rl.trainer.optim wants packages that are only in its own index, and the scheduler only its types."""
    import torch

    optim = types.ModuleType("prime_rl.trainer.optim")
    optim.OffloadOptimizer, optim.OptimizerLike = type("OffloadOptimizer", (), {}), object
    sys.modules["prime_rl.trainer.optim"] = optim
    from prime_rl.trainer.scheduler import setup_scheduler

    found = {}
    for folder in asked["folders"]:
        config = opened(folder).trainer
        optimizer = torch.optim.SGD([torch.nn.Parameter(torch.zeros(1))], lr=config.optim.lr)
        scheduler = setup_scheduler(optimizer, config.scheduler, config.max_steps, config.optim.lr)
        found[folder] = []
        for _ in range(config.max_steps):
            found[folder].append(optimizer.param_groups[0]["lr"])
            optimizer.step()
            scheduler.step()
    return found


def seams(_):
    """What `install` puts other things in the place of: names that the orchestrator's module reads when it needs them."""
    with open(importlib.util.find_spec("prime_rl.orchestrator.orchestrator").origin, encoding="utf-8") as file:
        tree = ast.parse(file.read())
    inside = [node for one in tree.body if isinstance(one, ast.ClassDef) for node in ast.walk(one)]
    called = {node.func.id for node in inside if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)}
    read = {node.id for node in inside if isinstance(node, ast.Name)}
    return {"called": sorted(called & {"TrainSource", "TrainSink"}), "read": sorted(read & {"TARGET_LAG"})}


commands = {one.__name__: one for one in (accepts, scores, drives, rates, seams)}


def apart(command, asked):
    """In a process of its own: projects have modules of the same names."""
    with tempfile.TemporaryFile("w+") as answer:
        child = os.fork()
        if child == 0:
            try:
                json.dump({"said": commands[command](asked)}, answer)
            except BaseException:
                answer.seek(0)
                answer.truncate()
                json.dump({"failed": traceback.format_exc()}, answer)
            answer.flush()
            os._exit(0)
        os.waitpid(child, 0)
        answer.seek(0)
        found = json.load(answer)
    if "failed" in found:
        sys.exit(found["failed"])
    return found["said"]


if sys.argv[1] == "drives":
    # What takes long is loaded once for all.
    import prime_rl.configs.rl
    import prime_rl.orchestrator.dispatcher
    import prime_rl.orchestrator.envs
    import prime_rl.orchestrator.train_sink
    import prime_rl.trainer.rl.loss
print("found " + json.dumps([apart(sys.argv[1], one) for one in json.load(sys.stdin)]))
