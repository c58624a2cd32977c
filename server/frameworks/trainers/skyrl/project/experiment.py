"""SkyRL's own experiment, with the reward of reward.py, the rows in their order, and what happens recorded."""
import itertools
import json
import os
import time

import skyrl_gym
from skyrl.train.entrypoints.main_base import BasePPOExp
from skyrl.train.trainer import RayPPOTrainer
from skyrl.train.utils.callbacks import TrainingCallback
from skyrl_gym.envs.base_text_env import BaseTextEnv, BaseTextEnvStepOutput
from torchdata.stateful_dataloader import StatefulDataLoader

from gradus_hook import set_step
from reward import compute_score

HERE = os.path.dirname(os.path.abspath(__file__))
# Renders prompts in the place of the tokenizer's own template; None: that one does.
CHAT_TEMPLATE = None
# Tells responses apart that are scored at the same time.
NUMBERS = itertools.count()


class Response(str):
    """A response, which knows how many tokens it has."""

    tokens = 0


class Client:
    """The client of the engines. Responses are texts without the tokens that end them."""

    def __init__(self, client, tokenizer):
        self.client, self.tokenizer = client, tokenizer

    def __getattr__(self, name):
        return getattr(self.client, name)

    async def generate(self, *args, **kwargs):
        output = await self.client.generate(*args, **kwargs)
        texts = self.tokenizer.batch_decode(output["response_ids"], skip_special_tokens=True)
        responses = [Response(text) for text in texts]
        for response, ids in zip(responses, output["response_ids"]):
            response.tokens = len(ids)
        return {**output, "responses": responses}


class Scored(BaseTextEnv):
    """A single turn, which reward.py scores."""

    def __init__(self, env_config=None, extras=None):
        super().__init__()
        self.own, self.values = json.loads(extras["gradus"]), {}
        self.known = {"split": extras["split"], "gradus_rollout": next(NUMBERS)}

    def step(self, action):
        self.values = compute_score(self.own, str(action), getattr(action, "tokens", 0), self.known)
        return BaseTextEnvStepOutput(observations=[], reward=float(self.values["score"]), done=True, metadata={})

    def get_metrics(self):
        return self.values


skyrl_gym.register(id="gradus", entry_point=Scored)


class Trainer(RayPPOTrainer):
    """Takes the rows in the order in which they were drawn."""

    def _build_train_dataloader_and_compute_training_steps(self):
        super()._build_train_dataloader_and_compute_training_steps()
        rows = self.train_dataset
        size = self.cfg.trainer.train_batch_size
        self.train_dataloader = StatefulDataLoader(rows, batch_size=size, collate_fn=rows.collate_fn, drop_last=True)


class Recorder(TrainingCallback):
    """Says of which step rollouts are, writes metrics next to them, and ends when somebody makes the file out/stop."""

    def __init__(self):
        folder = os.environ.get("GRADUS_ROLLOUTS", "off")
        self.folder = os.path.join(HERE, "out", "gradus-rollouts") if folder == "off" else folder
        self.name = None

    def on_step_start(self, trainer, callback_input, control):
        set_step(callback_input.global_step)

    def on_eval_start(self, trainer, callback_input, control):
        set_step(callback_input.global_step)

    def on_step_end(self, trainer, callback_input, control):
        if os.path.exists(os.path.join(HERE, "out", "stop")):
            control.should_save = True
            trainer.cfg.trainer.max_training_steps = callback_input.global_step

    def on_log(self, trainer, callback_input, control):
        numbers = {name: one for name, one in callback_input.logs.items() if isinstance(one, (int, float))}
        line = {"step": callback_input.global_step, "time": round(time.time(), 3), "data": numbers}
        # Named when there is something to write: rollouts of the same start come before.
        self.name = self.name or "metrics-skyrl-%d.jsonl" % (time.time() * 1000)
        os.makedirs(self.folder, exist_ok=True)
        with open(os.path.join(self.folder, self.name), "a", encoding="utf-8") as file:
            file.write(json.dumps(line) + "\n")


class Experiment(BasePPOExp):
    def get_train_dataset(self):
        if CHAT_TEMPLATE is not None:
            self.tokenizer.chat_template = CHAT_TEMPLATE
        return super().get_train_dataset()

    def get_generator(self, cfg, tokenizer, inference_engine_client):
        return super().get_generator(cfg, tokenizer, Client(inference_engine_client, tokenizer))

    def get_trainer(self, **given):
        return Trainer(**given, callbacks=[Recorder()])
