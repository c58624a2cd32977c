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
data = Dataset.from_parquet("train.parquet")
if CHAT or (CHAT is None and tokenizer.chat_template is not None):
    opening = [] if SYSTEM is None else [{"role": "system", "content": SYSTEM}]
    data = data.map(lambda row: {"prompt": opening + [{"role": "user", "content": row["prompt"]}]})

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
