"""verl trains on the tasks that service/ draws: they are drawn when verl fetches them, and a step's outcomes are reported when it has all its
rollouts. Classes of config.yaml: `data.custom_cls` and `trainer.v1.sampler.custom_sampler`.
"""
import json
import os
import sys

import torch
import transfer_queue as tq
from verl.trainer.ppo.v1.replay_buffer import ReplayBuffer
from verl.utils import tensordict_utils
from verl.utils.dataset.rl_dataset import RLHFDataset

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "service"))
from gradus_curriculum import CurriculumError, verl_steps

# The system message of a chat.
SYSTEM = None


def row_of(task):
    """As train.parquet has it, with the names of the task and of its step."""
    known = {name: task.get(name) for name in ("prompt", "answer", "source", "arm", "data")}
    opening = [] if SYSTEM is None else [{"role": "system", "content": SYSTEM}]
    return {
        "data_source": task["source"],
        "prompt": opening + [{"role": "user", "content": task["prompt"]}],
        "reward_model": {"style": "rule", "ground_truth": task.get("answer") or ""},
        "extra_info": {
            "split": "train",
            "index": task["place"],
            "gradus": json.dumps(known),
            "gradus_task": task["id"],
            "gradus_draw": task["step"],
        },
    }


class Drawn:
    """In the place of the rows of train.parquet: whichever is fetched, it is the next task of the curriculum."""

    def __init__(self, steps, count):
        self.steps, self.count = steps, count

    def __len__(self):
        return self.count

    def __getitem__(self, _):
        return row_of(self.steps.next())


class DrawnTasks(RLHFDataset):
    """verl's dataset. A checkpoint of its data loader says at which step the curriculum was."""

    def __init__(self, data_files, tokenizer, config, processor=None, max_samples=-1):
        if config.train_files == config.val_files:
            raise CurriculumError("data.val_files must be others than data.train_files: validation is no part of the curriculum")
        if config.shuffle or config.dataloader_num_workers != 0:
            raise CurriculumError("a curriculum needs data.shuffle=false and data.dataloader_num_workers=0: its tasks have an order")
        self.steps = verl_steps(config.train_batch_size) if data_files == config.train_files else None
        super().__init__(data_files, tokenizer, config, processor=processor, max_samples=max_samples)

    def _read_files_and_tokenize(self):
        super()._read_files_and_tokenize()
        if self.steps is not None:
            self.dataframe = Drawn(self.steps, len(self.dataframe))

    def state_dict(self):
        return {} if self.steps is None else self.steps.state()

    def load_state_dict(self, state):
        if self.steps is not None:
            self.steps.load(state)


class Observed(ReplayBuffer):
    """verl's replay buffer, which reports each step's groups once and leaves out those that the curriculum rejects."""

    def __init__(self, trainer_mode, sampler_kwargs, **given):
        if trainer_mode != "sync":
            raise CurriculumError("a curriculum needs trainer.v1.trainer_mode=sync, not %s; GRADUS_SERVICE=off trains without it" % trainer_mode)
        prompts, filters = sampler_kwargs["train_batch_size"], sampler_kwargs["filter_groups"]
        refills = bool(sampler_kwargs["sync_refill_failed_groups"])
        super().__init__(
            trainer_mode=trainer_mode,
            sampler_kwargs=sampler_kwargs,
            # As verl's trainer sets its own.
            filter_groups_metric=filters["metric"] if filters["enable"] else None,
            max_inflight_gen_batches=filters["max_inflight_gen_batches"] if filters["enable"] else 1,
            train_batch_size=prompts,
            gen_batch_size=1 if filters["enable"] or refills else prompts,
            sync_refill_failed_groups=refills,
            **given,
        )
        self.steps = verl_steps(prompts)
        self.steps.observer = self
        self.terms = set(self.steps.curriculum.state()["terms"])
        # By the name of its prompt, what became of a group of the present step.
        self.known = {}

    def sample(self, global_steps, partition_id, batch_size):
        batch, metrics = super().sample(global_steps=global_steps, partition_id=partition_id, batch_size=batch_size)
        if partition_id == "val":
            return batch, metrics
        if batch_size != self.train_batch_size:
            raise CurriculumError("a curriculum needs all prompts of a step in one batch: trainer.v1.sync.parameter_sync_step must be 1")
        self._note(partition_id, batch.keys)
        groups, self.known = self.known, {}
        decision = self.steps.observe(list(groups.values()), trainer_step=global_steps)
        rejected = {one["task"] for one in decision["rejected"]}
        # With filter_groups verl has replaced those that it rejects.
        if self.filter_groups_metric is None:
            batch = without(batch, {name for name, group in groups.items() if group["task"] in rejected})
        return batch, metrics

    def _clear_groups(self, partition_id, uids):
        self._note(partition_id, [key for key in self.partitions[partition_id] if key.split("_")[0] in uids])
        super()._clear_groups(partition_id, uids)

    def _note(self, partition_id, keys):
        """Keeps what became of the groups of these rollouts."""
        if not keys:
            return
        # A rollout of several outputs has its reward at the last.
        last = {tuple(key.split("_")[:2]): key for key in sorted(keys, key=lambda key: int(key.split("_")[2]))}
        fields = ["extra_info", "extra_fields", "rm_scores"]
        data = tq.kv_batch_get(keys=list(last.values()), partition_id=partition_id, select_fields=fields)
        columns = [data["extra_info"].tolist(), data["extra_fields"].tolist(), list(data["rm_scores"])]
        groups = {}
        for (name, _), key, info, extra, scores in zip(last, last.values(), *columns):
            said = extra.get("reward_extra_info", {}).get("gradus") or {"terms": {}, "response": ""}
            length = self.partitions[partition_id][key]["response_len"]
            groups.setdefault(name, []).append((info, said, float(scores.sum()), length))
        self.known.update({name: self._group(rows) for name, rows in groups.items()})

    def _group(self, rows):
        info, said, _, _ = rows[0]
        names = list(said["terms"])
        # Where a server combines the terms, their sum is known alone.
        by_term = len(names) > 0 and set(names) <= self.terms
        return {
            "task": info["gradus_task"],
            "step": info["gradus_draw"],
            "rewards": {name: [one["terms"][name] for _, one, _, _ in rows] for name in names}
            if by_term
            else [total for _, _, total, _ in rows],
            "lengths": [length for _, _, _, length in rows],
            "responses": [one["response"] for _, one, _, _ in rows],
        }


def without(batch, rejected):
    """The batch without these groups. Where none is left, one stays, whose equal rewards have no advantage: verl trains no empty step."""
    names = [key.split("_")[0] for key in batch.keys]
    kept = [name for name in names if name not in rejected]
    if len(kept) == len(names):
        return batch
    if not kept:
        level(batch.partition_id, [key for key, name in zip(batch.keys, names) if name == names[0]])
    staying = set(kept or names[:1])
    gone = [key for key, name in zip(batch.keys, names) if name not in staying]
    if gone:
        tq.kv_clear(keys=gone, partition_id=batch.partition_id)
    rows = [(key, tag) for key, tag, name in zip(batch.keys, batch.tags, names) if name in staying]
    return type(batch)(partition_id=batch.partition_id, keys=[key for key, _ in rows], tags=[tag for _, tag in rows])


def level(partition_id, keys):
    scores = tq.kv_batch_get(keys=keys, partition_id=partition_id, select_fields=["rm_scores"])["rm_scores"]
    zeros = torch.nested.as_nested_tensor([torch.zeros_like(one) for one in scores], layout=torch.jagged)
    tq.kv_batch_put(keys=keys, partition_id=partition_id, fields=tensordict_utils.get_tensordict({"rm_scores": zeros}))
