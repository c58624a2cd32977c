"""Writes test/fixtures/frameworks/{trl,openrlhf}Accepts.json: settings drawn at random, and whether the framework takes them.

`python scripts/frameworkAccepts.py trl` wants TRL installed: `GRPOConfig` itself is asked, in one process without a GPU; with
`rloo`, `dpo`, `sft`, `kto` or `reward` behind it that trainer's class, into trl<Name>Accepts.json.
`python scripts/frameworkAccepts.py openrlhf FOLDER RELEASE` wants OpenRLHF's wheel unpacked there: its train_ppo_ray.py runs up to
where it would start models, with Ray and everything that needs a GPU replaced by nothing.
"""

import contextlib
import io
import json
import logging
import random
import runpy
import sys
import types
import warnings

EACH = 120


def drawn(choices, draw):
    """Of `choices` {key: (probability, values)} some."""
    return {key: draw.choice(values) for key, (chance, values) in choices.items() if draw.random() < chance}


def collect(choices, accepts, seed, keep=lambda settings, accepted: True):
    """As many settings that are taken as are refused."""
    draw, rows = random.Random(seed), []
    left = {True: EACH, False: EACH}
    while any(left.values()):
        settings = drawn(choices, draw)
        accepted = accepts(settings)
        if left[accepted] == 0 or not keep(settings, accepted):
            continue
        left[accepted] -= 1
        rows.append({"accepted": accepted, "settings": settings})
    return rows


def write(name, release, rows):
    lines = ",\n".join("    " + json.dumps(row) for row in rows)
    with open(f"test/fixtures/frameworks/{name}Accepts.json", "w", encoding="utf8") as file:
        file.write(f'{{\n  "release": "{release}",\n  "rows": [\n{lines}\n  ]\n}}\n')


TRL = {
    "per_device_train_batch_size": (0.7, [1, 2, 3, 4, 6, 8, 12]),
    "gradient_accumulation_steps": (0.5, [1, 2, 3, 4, 8]),
    "generation_batch_size": (0.4, [6, 8, 12, 16, 24, 30, 32, 48, 64]),
    "steps_per_generation": (0.25, [1, 2, 3, 4, 6]),
    "num_generations": (0.8, [1, 2, 3, 4, 6, 8, 16]),
    "eval_strategy": (0.3, ["no", "epoch"]),
    "num_generations_eval": (0.3, [1, 2, 3, 4]),
    "per_device_eval_batch_size": (0.3, [2, 4, 6, 8]),
    "log_completions_hub_repo": (0.1, ["me/completions"]),
    "log_completions": (0.1, [True]),
    "vllm_importance_sampling_mode": (0.15, ["token_truncate", "sequence_truncate", "token_mask"]),
    "vllm_importance_sampling_clip_min": (0.15, [0.1, 1.0, 3.0, 4.0]),
    "vllm_importance_sampling_clip_max": (0.15, [None, 0.5, 2.0]),
    "vllm_importance_sampling_cap": (0.1, [0.5, 2.0, 5.0]),
    "vllm_importance_sampling_correction": (0.1, [False]),
    "auto_find_batch_size": (0.1, [True, False]),
    "fp16": (0.1, [True]),
    "bf16": (0.1, [True, False]),
}


SHARED = {
    "per_device_train_batch_size": (0.6, [1, 2, 4, 8]),
    "learning_rate": (0.4, [1e-6, 5e-7]),
    "fp16": (0.3, [True]),
    "bf16": (0.3, [True, False]),
    # Each of these is an argument of some of the classes only.
    "beta": (0.3, [0.1]),
    "max_length": (0.2, [512]),
    "packing": (0.15, [False]),
    "num_iterations": (0.15, [1]),
    "desirable_weight": (0.1, [1.2]),
    "label_smoothing": (0.1, [0.1]),
    "center_rewards_coefficient": (0.1, [0.01]),
    "epsilon_high": (0.1, [0.3]),
    "max_prompt_length": (0.1, [128]),
}
# Of RLOO what GRPO is asked too, as far as its class has it.
OTHERS = {
    "rloo": {
        **{key: TRL[key] for key in list(TRL)[:8]},
        "auto_find_batch_size": (0.1, [True]),
        "normalize_advantages": (0.2, [True]),
    },
    "dpo": {**SHARED, "loss_type": (0.4, [["sigmoid"], ["sigmoid", "sft"]]), "loss_weights": (0.4, [[1.0], [1.0, 0.5]])},
    "sft": SHARED,
    "kto": SHARED,
    "reward": SHARED,
}
CLASSES = {"rloo": "RLOOConfig", "dpo": "DPOConfig", "sft": "SFTConfig", "kto": "KTOConfig", "reward": "RewardConfig"}


def trl(trainer=None):
    import trl as package

    config = getattr(package, CLASSES.get(trainer, "GRPOConfig"))

    def accepts(settings):
        try:
            config(output_dir="out", use_cpu=True, report_to="none", **settings)
        except (ValueError, TypeError, ZeroDivisionError):
            return False
        return True

    name = "trl" if trainer is None else f"trl{trainer.capitalize()}"
    write(name, package.__version__, collect(OTHERS.get(trainer, TRL), accepts, seed=7))


GPUS = (1.0, [2, 4, 8])
OPENRLHF = {
    "actor.model_name_or_path": (1.0, ["a/b"]),
    "data.prompt_dataset": (1.0, ["d.jsonl"]),
    "data.label_key": (1.0, ["answer"]),
    "vllm.num_engines": (0.9, [1, 2, 4, 8]),
    "reward.remote_url": (0.5, ["http://localhost:5000/score"]),
    "reward.model_name_or_path": (0.5, ["a/reward"]),
    "algo.advantage.estimator": (0.8, ["gae", "reinforce", "rloo", "reinforce_baseline", "group_norm", "dr_grpo"]),
    "rollout.n_samples_per_prompt": (0.7, [1, 2, 4, 8]),
    **{f"{group}.num_gpus_per_node": GPUS for group in ("actor", "ref", "critic", "reward")},
    "train.colocate_all": (0.2, [True]),
    "train.colocate_actor_ref": (0.15, [True]),
    "train.colocate_critic_reward": (0.15, [True]),
    "algo.kl.init_coef": (0.3, [0, 0.001]),
    "vllm.enable_sleep": (0.1, [True]),
    "train.async_enable": (0.15, [True]),
    "train.partial_rollout_enable": (0.1, [True]),
    "eval.dataset": (0.15, ["held.jsonl"]),
    "algo.dynamic_filtering_enable": (0.15, [True]),
    "algo.dynamic_filtering_range": (0.1, [[0, 1], [1, 0], [0.5, 0.5]]),
    "rollout.vllm_generate_batch_size": (0.1, [512, 1024, 2048]),
    "data.max_images_per_prompt": (0.1, [1]),
    "ds.packing_samples": (0.1, [True]),
    "rollout.micro_batch_size": (0.1, [64, 512, 1024, 4096]),
}


class Started(Exception):
    """The program has checked what it checks."""


class Nothing:
    """Stands for whatever would need a GPU."""

    def __init__(self, *_, **__):
        pass

    def __getattr__(self, _):
        return Nothing()

    def __call__(self, *_, **__):
        return Nothing()


def replace(name, package=False, **members):
    module = sys.modules[name] = types.ModuleType(name)
    module.__dict__.update(members)
    if package:
        module.__path__ = []
    return module


def stand_ins(folder):
    def start(*_, **__):
        raise Started

    trainer = types.SimpleNamespace(remote=start)
    replace("ray", package=True, is_initialized=lambda: True, get=Nothing(), init=Nothing())
    replace("ray.util", package=True)
    replace("ray.util.placement_group", placement_group=Nothing())
    replace("openrlhf", package=True)
    replace("openrlhf.trainer", package=True)
    replace("openrlhf.trainer.ray", package=True, create_vllm_engines=Nothing())
    replace("openrlhf.trainer.ray.launcher", RayActorGroup=Nothing(), ReferenceModelActor=0, RewardModelActor=0)
    replace("openrlhf.trainer.ray.ppo_actor", PolicyModelActor=0)
    replace("openrlhf.trainer.ray.ppo_critic", CriticModelActor=0)
    replace("openrlhf.trainer.ppo_trainer", PPOTrainer=trainer)
    replace("openrlhf.trainer.ppo_trainer_async", PPOTrainerAsync=trainer)
    replace("openrlhf.utils", get_strategy=lambda _: Nothing()).__path__ = [f"{folder}/openrlhf/utils"]


def openrlhf(folder, release):
    stand_ins(folder)

    def accepts(settings):
        sys.argv = ["train_ppo_ray.py"]
        for key, value in settings.items():
            values = [] if value is True else value if isinstance(value, list) else [value]
            sys.argv += [f"--{key}", *map(str, values)]
        try:
            with contextlib.redirect_stdout(io.StringIO()):
                runpy.run_path(f"{folder}/openrlhf/cli/train_ppo_ray.py", run_name="__main__")
        except Started:
            return True
        except (AssertionError, AttributeError, TypeError):
            return False

    def keep(settings, accepted):
        """Without what is refused only later: no engine, no reward, too few batches for other models."""
        batches = 1024 * settings.get("rollout.n_samples_per_prompt", 1) // settings.get("rollout.micro_batch_size", 1)
        paid = "reward.remote_url" in settings or "reward.model_name_or_path" in settings
        return not accepted or (paid and batches >= 8 and "vllm.num_engines" in settings)

    write("openrlhf", release, collect(OPENRLHF, accepts, seed=11, keep=keep))


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    logging.disable(logging.CRITICAL)
    if sys.argv[1] == "trl":
        trl(*sys.argv[2:3])
    else:
        openrlhf(*sys.argv[2:4])
