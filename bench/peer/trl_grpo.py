"""One optimiser round of TRL's GRPOTrainer on the CPU, for bench/round.mjs.

Same sizes as examples/countdown: a Llama of the given width on single characters, `--prompts` x `--group` completions of
at most `--max-tokens`, one update a step, no reference model. Settings are those that measured fastest on two cores:
scaled-dot-product attention, micro-batches of 64, fused AdamW, no gradient checkpointing, no compilation.

With `--model FOLDER` it trains that model instead, whole, on completions of exactly `--max-tokens`, without a warm-up.

Reads nothing from the network. Prints one JSON object a step: {"step", "seconds", "generated", "answers", "trained", "peak"}:
tokens written, completions, tokens that are trained (TRL leaves none out), and the most bytes that the process has held.
Needs: pip install torch trl transformers datasets (any TRL from 1.0 on).
"""

import argparse
import json
import os
import random
import resource
import tempfile
import time

parser = argparse.ArgumentParser()
parser.add_argument("--steps", type=int, default=12)
parser.add_argument("--prompts", type=int, default=64)
parser.add_argument("--group", type=int, default=8)
parser.add_argument("--max-tokens", type=int, default=20)
parser.add_argument("--width", type=int, default=128)
parser.add_argument("--layers", type=int, default=4)
parser.add_argument("--heads", type=int, default=4)
parser.add_argument("--hidden", type=int, default=384)
parser.add_argument("--lr", type=float, default=1.5e-4)
parser.add_argument("--warm-up", type=int, default=150, help="supervised steps first, so that answers end by themselves")
parser.add_argument("--warm-up-rows", type=int, default=128)
parser.add_argument("--model", help="a Hugging Face folder")
parser.add_argument("--threads", type=int, default=2)
parser.add_argument("--seed", type=int, default=1)
options = parser.parse_args()

os.environ.update(HF_HUB_OFFLINE="1", TRANSFORMERS_OFFLINE="1", TOKENIZERS_PARALLELISM="false")
os.environ.setdefault("OMP_NUM_THREADS", str(options.threads))

import torch  # noqa: E402
import torch.nn.functional as functional  # noqa: E402
from datasets import Dataset  # noqa: E402
from tokenizers import Regex, Tokenizer, decoders, models, pre_tokenizers  # noqa: E402
from transformers import (  # noqa: E402
    AutoModelForCausalLM, AutoTokenizer, LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast, TrainerCallback,
)
from trl import GRPOConfig, GRPOTrainer  # noqa: E402

torch.set_num_threads(options.threads)
torch.manual_seed(options.seed)
draw = random.Random(options.seed)


def task():
    """Three or four numbers, a target that a flat expression over them reaches, and that expression."""
    while True:
        numbers = [draw.randint(1, 12) for _ in range(draw.choice((3, 4)))]
        order = draw.sample(numbers, len(numbers))
        text = str(order[0])
        for number in order[1:]:
            text += draw.choice("+-*") + str(number)
        target = eval(text)  # noqa: S307: digits and three operators, written above
        if 1 <= target < 100:
            return " ".join(map(str, numbers)) + f"={target}:", text


def tokenizer():
    vocabulary = {token: i for i, token in enumerate(["<pad>", "<s>", "</s>"] + [chr(c) for c in range(32, 127)])}
    base = Tokenizer(models.WordLevel(vocabulary, unk_token="<pad>"))
    base.pre_tokenizer = pre_tokenizers.Split(Regex("[\\s\\S]"), "isolated")
    base.decoder = decoders.Fuse()
    return PreTrainedTokenizerFast(tokenizer_object=base, pad_token="<pad>", bos_token="<s>", eos_token="</s>", padding_side="left")


def small():
    """The example's model, from random weights."""
    characters = tokenizer()
    config = LlamaConfig(
        vocab_size=len(characters), hidden_size=options.width, intermediate_size=options.hidden, num_hidden_layers=options.layers,
        num_attention_heads=options.heads, num_key_value_heads=options.heads, max_position_embeddings=64, tie_word_embeddings=True,
        bos_token_id=1, eos_token_id=2, pad_token_id=0, attn_implementation="sdpa",
    )
    return characters, LlamaForCausalLM(config)


def stored(folder):
    read = AutoTokenizer.from_pretrained(folder, padding_side="left")
    if read.pad_token is None:
        read.pad_token = read.eos_token
    return read, AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32, attn_implementation="sdpa")


words, model = small() if options.model is None else stored(options.model)


def warm_up():
    """Plain supervised steps, loss on the response: as many rows and the same course of the rate as the stage `warm-up`
    of the example, 20 steps up and then a line down to 0."""
    optimizer = torch.optim.AdamW(model.parameters(), lr=2e-3, weight_decay=0.0)
    up = min(20, options.warm_up)
    course = torch.optim.lr_scheduler.LambdaLR(
        optimizer, lambda t: (t + 1) / up if t < up else max(0.0, (options.warm_up - t) / max(1, options.warm_up - up))
    )
    for _ in range(options.warm_up):
        pairs = [task() for _ in range(options.warm_up_rows)]
        prompts = [words.encode(prompt, add_special_tokens=False) for prompt, _ in pairs]
        answers = [words.encode(answer, add_special_tokens=False) + [2] for _, answer in pairs]
        length = max(len(p) + len(a) for p, a in zip(prompts, answers))
        rows = torch.zeros(len(pairs), length, dtype=torch.long)
        labels = torch.full_like(rows, -100)
        for i, (prompt, answer) in enumerate(zip(prompts, answers)):
            rows[i, : len(prompt) + len(answer)] = torch.tensor(prompt + answer)
            labels[i, len(prompt) : len(prompt) + len(answer)] = torch.tensor(answer)
        logits = model(rows).logits[:, :-1]
        loss = functional.cross_entropy(logits.reshape(-1, logits.shape[-1]), labels[:, 1:].reshape(-1), ignore_index=-100)
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        course.step()


written = {"generated": 0, "answers": 0}


def reward(prompts, completions, completion_ids, **_):
    """1 where the completion uses the prompt's numbers and has its target, and a tenth for brevity, so that hardly a
    group is without differences: the engine beside this one leaves out rows whose gradient is zero."""

    written["generated"] += sum(len(ids) for ids in completion_ids)
    written["answers"] += len(completion_ids)

    def score(prompt, completion):
        numbers, target = prompt.rstrip(":").split("=")
        used = completion.replace("+", " ").replace("-", " ").replace("*", " ").split()
        if sorted(used) != sorted(numbers.split()):
            return 0.0
        try:
            return float(eval(completion) == int(target))  # noqa: S307: checked above to be numbers and operators
        except (SyntaxError, ValueError):
            return 0.0

    if options.model is not None:
        return [sum(map(ord, completion)) % 97 / 97 for completion in completions]
    brevity = [0.1 * (1 - min(len(completion) / options.max_tokens, 1)) for completion in completions]
    return [score(prompt, completion) + short for prompt, completion, short in zip(prompts, completions, brevity)]


class Clock(TrainerCallback):
    """Wall time between the ends of two optimiser steps."""

    def __init__(self):
        self.last = None

    def on_step_begin(self, args, state, control, **_):
        if self.last is None:
            self.last = time.perf_counter()

    def on_step_end(self, args, state, control, **_):
        now = time.perf_counter()
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
        line = {"step": state.global_step - 1, "seconds": now - self.last, "trained": written["generated"], "peak": peak}
        print(json.dumps({**line, **written}), flush=True)
        written.update(generated=0, answers=0)
        self.last = now


if options.model is None:
    warm_up()
rows = options.prompts * options.group
micro = 64 if rows % 64 == 0 else rows
with tempfile.TemporaryDirectory() as folder:
    trainer = GRPOTrainer(
        model=model, processing_class=words, reward_funcs=reward, callbacks=[Clock()],
        train_dataset=Dataset.from_dict({"prompt": [task()[0] for _ in range(options.prompts * options.steps)]}),
        args=GRPOConfig(
            output_dir=folder, use_cpu=True, bf16=False, seed=options.seed, max_steps=options.steps, learning_rate=options.lr,
            per_device_train_batch_size=micro, gradient_accumulation_steps=rows // micro, num_generations=options.group,
            max_completion_length=options.max_tokens, temperature=1.0, beta=0.0, loss_type="dapo", scale_rewards="group",
            lr_scheduler_type="constant", report_to="none", logging_strategy="no", save_strategy="no",
            gradient_checkpointing=False, disable_tqdm=True,
            # Both sides write as many tokens: no answer of a stored model ends by itself.
            generation_kwargs=None if options.model is None else {"min_new_tokens": options.max_tokens},
        ),
    )
    trainer.train()
