"""Trains with TRL's GRPO what config.yaml says: `python train.py`, with `--resume` from the last checkpoint.

Several processes share the batch: `accelerate launch --num_processes 8 train.py`.
"""
import os
import sys
from pathlib import Path

import yaml
from datasets import Dataset
from transformers import AutoTokenizer, HfArgumentParser
from trl import GRPOConfig, GRPOTrainer, ModelConfig, get_peft_config

from gradus_hook import trl_callback
from reward import functions

# Whether prompts are the user's message of a chat; None: where the tokenizer has a template.
CHAT = None
# The system message of a chat.
SYSTEM = None
# Whether service/ draws the tasks by what became of those before, and scores what Python cannot. It needs Node 20 or newer;
# GRADUS_SERVICE=off trains on train.parquet without it, as MISSING.md says.
SERVICE = False


def shared(settings, processes):
    """The settings of one process among several: together they have the batch of config.yaml."""
    device = settings["per_device_train_batch_size"]
    update = device * settings["gradient_accumulation_steps"]
    generation = device * settings["steps_per_generation"]
    while device > 1 and (update % (device * processes) or generation % (device * processes)):
        device -= 1
    if update % (device * processes) or generation % (device * processes):
        sys.exit("%d processes cannot share updates of %d completions and generations of %d" % (processes, update, generation))
    return {
        **settings,
        "per_device_train_batch_size": device,
        "gradient_accumulation_steps": update // device // processes,
        "steps_per_generation": generation // device // processes,
    }


def columns(task):
    """Of a task that service/ drew: the columns that train.parquet has of it."""
    fields = {name: value for name, value in task["data"].items() if name not in ("prompt", "prompts", "completion", "completions", "completion_ids")}
    answer = task.get("answer")
    if answer is not None:
        fields.setdefault("answer", answer)
        if fields["answer"] != answer:
            fields["gradus_answer"] = answer
    return {**fields, "prompt": task["prompt"], "gradus_source": task["source"], "gradus_arm": task["arm"]}


def checkpoints(folder):
    """Those that are whole: the state is written last."""
    whole = [path.parent for path in Path(folder).glob("checkpoint-*/trainer_state.json")]
    return sorted(whole, key=lambda path: int(path.name.split("-")[1]))


settings = yaml.safe_load(Path("config.yaml").read_text(encoding="utf-8"))
parser = HfArgumentParser((GRPOConfig, ModelConfig))
args, model = parser.parse_dict(shared(settings, int(os.environ.get("WORLD_SIZE", "1"))))
if model.dtype is not None:
    args.model_init_kwargs = {**(args.model_init_kwargs or {}), "dtype": model.dtype}

saved = checkpoints(args.output_dir)
resume = "--resume" in sys.argv
if saved and not resume:
    sys.exit("out/ has checkpoints of an earlier start: add --resume to go on from them, or remove out/")

tokenizer = AutoTokenizer.from_pretrained(model.model_name_or_path)
chat = tokenizer.chat_template is not None if CHAT is None else CHAT
opening = [] if SYSTEM is None else [{"role": "system", "content": SYSTEM}]


def asked(row):
    """A row whose prompt is as the policy is asked it."""
    return {**row, "prompt": opening + [{"role": "user", "content": row["prompt"]}]} if chat else row


if SERVICE and os.environ.get("GRADUS_SERVICE") != "off":
    sys.path.insert(0, "service")
    from gradus_curriculum import Curriculum, trl_dataset, trl_trainer

    curriculum = Curriculum()
    os.environ.setdefault("GRADUS_REWARD_URL", curriculum.reward_url())
    data = trl_dataset(curriculum, args, row=lambda task: asked(columns(task)))
    GRPOTrainer = trl_trainer(GRPOTrainer, curriculum)
else:
    data = Dataset.from_parquet("train.parquet").map(asked)

trainer = GRPOTrainer(
    model=model.model_name_or_path,
    args=args,
    reward_funcs=functions,
    train_dataset=data,
    processing_class=tokenizer,
    peft_config=get_peft_config(model),
    callbacks=[trl_callback(stop="out/stop")],
)
trainer.train(resume_from_checkpoint=str(saved[-1]) if resume and saved else None)
