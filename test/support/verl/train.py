"""verl trains a project on CPU: `python train.py PROJECT SCRIPT OUT [key=value …]`, with CRASH=step in the environment.

Of verl is everything but what wants a GPU: vLLM's server, whose answers SCRIPT has by prompt, and the workers that hold the model. So
main_ppo's start, the V1 trainer's loop, its data loader, checkpoints, TransferQueue, the agent loop and the reward loop are its own. OUT
gets a line of JSON for each update: the step, and of each rollout the draw, the task, the prompt and the advantage.
"""

import json
import os
import sys
from types import SimpleNamespace

import ray
import torch
import transfer_queue as tq
from hydra import compose, initialize_config_dir
from verl.experimental.reward_loop import RewardLoopManager
from verl.trainer.main_ppo import TaskRunnerV1, run_ppo
from verl.trainer.ppo.utils import need_critic, need_reference_policy
from verl.trainer.ppo.v1 import trainer_base
from verl.trainer.ppo.v1.trainer_sync import PPOTrainerSync
from verl.utils import tensordict_utils
from verl.utils.config import validate_config
from verl.workers.rollout.replica import TokenOutput

project, script, out, words = sys.argv[1], sys.argv[2], sys.argv[3], sys.argv[4:]


class Answers:
    """Each prompt's answers, in the order of the steps; those of `*` in turn where a prompt has none."""

    def __init__(self, file):
        with open(file) as lines:
            self.known = json.load(lines)

    def next(self, prompt):
        answers = self.known.get(prompt)
        if answers:
            return answers.pop(0)
        others = self.known.setdefault("*", ["a"])
        others.append(others.pop(0))
        return others[-1]


class Server:
    """In the place of vLLM's client."""

    def __init__(self, answers, tokenizer):
        self.answers, self.tokenizer = answers, tokenizer

    async def generate(self, request_id, *, prompt_ids, sampling_params, **_):
        prompt = self.tokenizer.decode(prompt_ids, skip_special_tokens=True)
        answer = await self.answers.next.remote(prompt)
        ids = self.tokenizer(answer, add_special_tokens=False).input_ids + [self.tokenizer.eos_token_id]
        return TokenOutput(token_ids=ids, log_probs=None, extra_fields={"min_global_steps": 0, "max_global_steps": 0})


class Nothing:
    """Workers that hold a model, and what moves its weights."""

    def __init__(self):
        self._dispatch_info = {"actor": [0]}

    def __getattr__(self, name):
        return lambda *_, **__: None


class Trainer(PPOTrainerSync):
    def _setup(self):
        self._init_tokenizer()
        self._init_dataloader()
        self._init_dump_executor()
        self.actor_rollout_wg = self.checkpoint_manager = Nothing()
        self.llm_server_manager = self.teacher_model_manager = None
        self.resource_pool_manager = SimpleNamespace(get_n_gpus=lambda: 1)
        self.reward_loop_manager = RewardLoopManager(config=self.config, rm_resource_pool=None)
        self.answers = ray.remote(Answers).remote(script)
        self._load_checkpoint()

    def get_llm_client(self):
        return Server(self.answers, self.tokenizer)

    def _compute_old_log_prob(self, batch, metrics):
        masks = tq.kv_batch_get(keys=batch.keys, partition_id=batch.partition_id, select_fields=["response_mask"])["response_mask"]
        zeros = torch.nested.as_nested_tensor([torch.zeros(len(one)) for one in masks], layout=torch.jagged)
        fields = tensordict_utils.get_tensordict({"old_log_probs": zeros})
        return tq.kv_batch_put(keys=batch.keys, partition_id=batch.partition_id, fields=fields)

    def _update_actor(self, batch, metrics):
        fields = ["extra_info", "advantages", "uid"]
        data = tq.kv_batch_get(keys=batch.keys, partition_id=batch.partition_id, select_fields=fields)
        rows = []
        for tag, info, advantages in zip(batch.tags, data["extra_info"].tolist(), list(data["advantages"])):
            if not tag.get("is_padding"):
                prompt = json.loads(info["gradus"])["prompt"]
                rows.append([info.get("gradus_draw"), info.get("gradus_task"), prompt, float(advantages.sum() / len(advantages))])
        with open(out, "a") as lines:
            lines.write(json.dumps({"step": self.global_steps, "rows": rows, "padding": len(batch.keys) - len(rows)}) + "\n")
        if os.environ.get("CRASH") == str(self.global_steps):
            os._exit(9)
        return batch


class Runner(TaskRunnerV1.__ray_metadata__.modified_class):
    def run(self, config):
        trainer_base.TRAINER_REGISTRY["sync"] = Trainer
        super().run(config)


small = [
    *("actor_rollout_ref.rollout.agent.num_workers=2", "reward.num_workers=2"),
    *("transfer_queue.backend.SimpleStorage.num_data_storage_units=1", "+ray_kwargs.ray_init.include_dashboard=false"),
    *("ray_kwargs.ray_init.num_cpus=12", "+ray_kwargs.ray_init.object_store_memory=200000000"),
]
with initialize_config_dir(project, version_base=None):
    config = compose("config", overrides=["project='%s'" % project, *small, *words])
validate_config(config, need_reference_policy(config), need_critic(config))
run_ppo(config, ray.remote(Runner))
