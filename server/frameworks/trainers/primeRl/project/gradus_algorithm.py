"""Advantages, and what the loss is divided by, where the config says another thing than prime-rl's algorithms do.

`env.taskset.algorithm` in rl.toml says which. curriculum.py puts both in the place of prime-rl's own.
"""
import math

from prime_rl.orchestrator.algo.base import iter_trainable_traces
from prime_rl.orchestrator.algo.grpo import GRPOAlgorithm
from prime_rl.orchestrator.algo.routing import assign_advantages
from prime_rl.orchestrator.train_sink import TrainSink


class Advantages(GRPOAlgorithm):
    def __init__(self, config, policy_pool, says):
        super().__init__(config, policy_pool)
        self.says = says

    async def score_group(self, episodes):
        traces = [trace for _, trace in iter_trainable_traces(episodes)]
        for trace, value in zip(traces, advantages([trace.reward for trace in traces], **self.says), strict=True):
            assign_advantages(trace, value)


def advantages(rewards, baseline="group_mean", value=0.5, scale="none", epsilon=1e-4, population=False, positive=1.0, negative=1.0, **_):
    """Of a group's rewards. value: of the baseline `constant`; positive, negative: factors by the sign."""
    count = len(rewards)
    if count == 1 and baseline in ("group_mean", "leave_one_out"):
        return [0.0]
    mean = sum(rewards) / count
    if baseline == "leave_one_out":
        centred = [one - (count * mean - one) / (count - 1) for one in rewards]
    else:
        centred = [one - {"group_mean": mean, "none": 0.0, "constant": value}[baseline] for one in rewards]
    if scale == "group_std":
        spread = deviation(rewards, mean, population)
        centred = [0.0 if spread == 0 else one / (spread + epsilon) for one in centred]
    if scale == "sign":
        centred = [float((one > 0) - (one < 0)) for one in centred]
    return [one * (positive if one > 0 else negative) for one in centred]


def deviation(rewards, mean, population):
    """Equal rewards have none, which the rounding of their mean would hide."""
    if len(set(rewards)) == 1:
        return 0.0
    return math.sqrt(sum((one - mean) ** 2 for one in rewards) / (len(rewards) - (0 if population else 1)))


class Normalised(TrainSink):
    """prime-rl divides the loss by the tokens of a batch: weights on tokens make another normaliser of it."""

    def process_batch(self):
        batch = super().process_batch()
        (source,) = self.config.train.source
        says = source.env.taskset.algorithm
        trained = [[weight != 0 for weight in sample.rl_weights or sample.mask] for sample in batch.samples]
        counts = [sum(one) for one in trained]
        for sample, tokens, factor in zip(batch.samples, trained, factors(counts, **says), strict=True):
            sample.rl_weights = [factor if one else 0.0 for one in tokens]
        return batch


def factors(counts, aggregate="token_mean", budget=1, **_):
    """Of each response of so many tokens, on top of a division by all tokens."""
    total, rows = sum(counts), len(counts)
    return {
        "token_mean": lambda: [1.0] * rows,
        "token_sum": lambda: [float(total)] * rows,
        "sequence_mean": lambda: [total / (rows * max(count, 1)) for count in counts],
        "sequence_sum": lambda: [total / rows] * rows,
        "sequence_sum_norm": lambda: [total / (rows * budget)] * rows,
    }[aggregate]()
