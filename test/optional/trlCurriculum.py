"""TRL trains on a project's curriculum: `python trlCurriculum.py PROJECT OUT STEPS [CHECKPOINT]`, with GA and ITERS in the environment.

Prints what each generation was asked, as JSON.
"""

import json
import os
import sys

# Files of this folder have the names of packages.
sys.path[:] = [path for path in sys.path if os.path.abspath(path or ".") != os.path.dirname(os.path.abspath(__file__))]
project, out, steps = sys.argv[1], sys.argv[2], int(sys.argv[3])
sys.path.insert(0, os.path.join(project, "service"))

import torch
from gradus_curriculum import Curriculum, trl_dataset, trl_rewards, trl_trainer
from tokenizers import Tokenizer, decoders, models, pre_tokenizers
from transformers import PreTrainedTokenizerFast, Qwen2Config, Qwen2ForCausalLM
from trl import GRPOConfig, GRPOTrainer

letters = ["<pad>", "<eos>", *"abcdefghijklmnopqrstuvwxyz>"]
characters = Tokenizer(models.WordLevel({letter: at for at, letter in enumerate(letters)}, unk_token="<pad>"))
characters.pre_tokenizer = pre_tokenizers.Split("", "isolated")
characters.decoder = decoders.Fuse()
tokenizer = PreTrainedTokenizerFast(tokenizer_object=characters, pad_token="<pad>", eos_token="<eos>", padding_side="left")
torch.manual_seed(0)
model = Qwen2ForCausalLM(
    Qwen2Config(
        vocab_size=len(letters),
        hidden_size=32,
        intermediate_size=64,
        num_hidden_layers=1,
        num_attention_heads=2,
        num_key_value_heads=2,
        max_position_embeddings=128,
        pad_token_id=0,
        eos_token_id=1,
    )
)
accumulation = int(os.environ.get("GA", "1"))
args = GRPOConfig(
    output_dir=out,
    max_steps=steps,
    per_device_train_batch_size=12 // accumulation,
    gradient_accumulation_steps=accumulation,
    num_iterations=int(os.environ.get("ITERS", "1")),
    num_generations=4,
    max_completion_length=4,
    shuffle_dataset=False,
    save_steps=2,
    logging_steps=1,
    report_to=[],
    use_cpu=True,
    bf16=False,
    learning_rate=1e-3,
)
asked = []


class Spy(GRPOTrainer):
    def _calculate_rewards(self, inputs, *rest):
        asked.append([[row["gradus"]["step"], row["gradus"]["id"], row["prompt"]] for row in inputs])
        return super()._calculate_rewards(inputs, *rest)

    def _compute_loss(self, model, inputs):
        advantages.append(inputs["advantages"].tolist())
        return super()._compute_loss(model, inputs)


advantages = []
curriculum = Curriculum(project)
trainer = trl_trainer(Spy, curriculum)(
    model=model,
    args=args,
    processing_class=tokenizer,
    train_dataset=trl_dataset(curriculum, args),
    reward_funcs=trl_rewards(curriculum),
)
trainer.train(resume_from_checkpoint=sys.argv[4] if len(sys.argv) > 4 else None)
print(json.dumps({"asked": asked, "zeros": [sum(one == 0 for one in step) for step in advantages]}))
