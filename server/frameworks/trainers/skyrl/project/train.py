"""Trains with SkyRL what config.yaml says: `python train.py`, with `--resume` from the last checkpoint.

Other words are settings of SkyRL: `python train.py trainer.placement.policy_num_gpus_per_node=8`.
"""
import os
import sys
from pathlib import Path

import ray
from omegaconf import OmegaConf
from skyrl.train.config import SkyRLTrainConfig
from skyrl.train.utils import validate_cfg
from skyrl.train.utils.utils import initialize_ray

HERE = Path(__file__).resolve().parent


def settings(words):
    """Those of config.yaml, with what the words say instead."""
    whole = OmegaConf.merge(OmegaConf.load(HERE / "config.yaml"), {"project": str(HERE)}, OmegaConf.from_cli(words))
    OmegaConf.resolve(whole)
    del whole["project"]
    return SkyRLTrainConfig.from_dict_config(whole)


@ray.remote(num_cpus=1)
def train(cfg, project, environment):
    """In a process of Ray's: the environment and the reward are known where responses are scored."""
    os.environ.update(environment)
    sys.path.insert(0, project)
    from experiment import Experiment

    Experiment(cfg).run()


def main(words):
    resume = "--resume" in words
    if not resume and (HERE / "out/checkpoints/latest_ckpt_global_step.txt").exists():
        sys.exit("out/ has checkpoints of an earlier start: add --resume to go on from them, or remove out/")
    cfg = settings([word for word in words if word != "--resume"])
    if resume:
        cfg.trainer.resume_mode = "latest"
    validate_cfg(cfg)
    environment = {name: os.environ[name] for name in ("GRADUS_REWARD_URL",) if name in os.environ}
    environment["GRADUS_ROLLOUTS"] = os.environ.get("GRADUS_ROLLOUTS") or str(HERE / "out/gradus-rollouts")
    initialize_ray(cfg)
    ray.get(train.remote(cfg, str(HERE), environment))


if __name__ == "__main__":
    main(sys.argv[1:])
