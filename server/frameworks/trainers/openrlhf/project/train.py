"""Runs a program of OpenRLHF with its prompts in the order of their file, which it would shuffle.

    python train.py -m openrlhf.cli.train_ppo_ray --FLAG VALUE …
"""
import runpy
import sys

from openrlhf import utils
from openrlhf.utils.deepspeed import DeepspeedStrategy


class InOrder(DeepspeedStrategy):
    def setup_dataloader(self, dataset, batch_size, pin_memory=False, shuffle=True, *others, **named):
        return super().setup_dataloader(dataset, batch_size, pin_memory, False, *others, **named)


def in_order(args, strategy_of=utils.get_strategy):
    strategy = strategy_of(args)
    strategy.__class__ = InOrder
    return strategy


if __name__ == "__main__":
    utils.get_strategy = in_order
    # Without `train.py -m`.
    sys.argv = sys.argv[2:]
    runpy.run_module(sys.argv[0], run_name="__main__", alter_sys=True)
