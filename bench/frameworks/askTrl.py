"""Asks TRL's own parsers which configurations they take: `python bench/frameworks/askTrl.py` writes test/fixtures/frameworks/trlAsked.json.

Each row is a file as `trl <trainer> --config` reads it, or flags as `trl <trainer>` takes them, and whether the parser and the classes' own
`__post_init__` accept it. Valid configurations are changed in one key at a time (another type, out of range, no name of an enumeration,
nothing, a slip of the fingers), and settings that depend on each other are written so that they agree and so that they do not. `--check`
compares the committed rows with what the parsers answer instead of writing them. Everything is built on the CPU; what only a GPU or a package
that is not installed could decide is left out (`ENVIRONMENT`).
"""

import contextlib
import dataclasses
import importlib
import io
import json
import os
import shlex
import sys
import tempfile
import warnings

import yaml

os.environ["CUDA_VISIBLE_DEVICES"] = ""
PATH = "test/fixtures/frameworks/trlAsked.json"
TRAINERS = ["grpo", "rloo", "dpo", "sft", "kto", "reward"]
ENVIRONMENT = ("Ampere", "bf16/gpu", "is required but", "No module named", "not installed", "not available", "process group has not", "No such file")

BASE = {"model_name_or_path": "a/b", "dataset_name": "a/data", "output_dir": "out", "use_cpu": True, "report_to": "none"}
OWN = {
    "grpo": {"reward_funcs": ["accuracy_reward"], "per_device_train_batch_size": 8, "num_generations": 8},
    "rloo": {"reward_funcs": ["accuracy_reward"], "per_device_train_batch_size": 8, "num_generations": 8},
}

# Changed one at a time; a trainer is asked what its class has.
NUMBERS = ["learning_rate", "num_train_epochs", "max_grad_norm", "weight_decay", "beta", "temperature", "epsilon", "top_p", "adam_beta1"]
COUNTS = [
    "per_device_train_batch_size",
    "gradient_accumulation_steps",
    "max_steps",
    "num_generations",
    "max_completion_length",
    "max_length",
    "seed",
    "save_total_limit",
    "dataloader_num_workers",
    "lora_r",
]
FLAGS = ["bf16", "gradient_checkpointing", "log_completions", "use_vllm", "packing", "use_peft", "load_best_model_at_end", "remove_unused_columns"]
NAMES = ["lr_scheduler_type", "optim", "eval_strategy", "save_strategy", "logging_strategy", "hub_strategy"]
SLIPS = ["learning_rte", "per_device_train_batchsize", "num_train_epoch", "max_stepss", "gradient_accumulation_step", "output_dirr"]

# Settings that depend on each other, for every trainer.
TOGETHER = [
    {"eval_strategy": "steps", "eval_steps": 10},
    {"eval_strategy": "steps", "logging_steps": 0},
    {"eval_strategy": "steps", "logging_strategy": "no", "logging_steps": 0},
    {"eval_strategy": "steps", "eval_steps": 0, "logging_steps": 5},
    {"logging_steps": 0},
    {"logging_steps": 0, "logging_strategy": "epoch"},
    {"logging_steps": 2.5},
    {"logging_steps": 0.5},
    {"eval_strategy": "steps", "eval_steps": 7.5},
    {"eval_steps": 7.5},
    {"save_steps": 7.5},
    {"save_steps": 7.5, "save_strategy": "epoch"},
    {"save_steps": 0.25},
    {"load_best_model_at_end": True},
    {"load_best_model_at_end": True, "eval_strategy": "steps", "eval_steps": 100, "save_steps": 500},
    {"load_best_model_at_end": True, "eval_strategy": "steps", "eval_steps": 300, "save_steps": 500},
    {"load_best_model_at_end": True, "eval_strategy": "steps", "eval_steps": 0.1, "save_steps": 0.2},
    {"load_best_model_at_end": True, "eval_strategy": "steps", "eval_steps": 0.1, "save_steps": 0.25},
    {"load_best_model_at_end": True, "eval_strategy": "steps", "eval_steps": 0.1, "save_steps": 100},
    {"load_best_model_at_end": True, "eval_strategy": "epoch"},
    {"load_best_model_at_end": True, "eval_strategy": "epoch", "save_strategy": "epoch"},
    {"load_best_model_at_end": True, "eval_strategy": "epoch", "save_strategy": "best"},
    {"load_best_model_at_end": True, "eval_strategy": "steps", "logging_steps": 50, "save_steps": 500},
    {"load_best_model_at_end": True, "eval_strategy": "steps", "logging_steps": 300, "save_steps": 500},
    {"fp16": True},
    {"fp16": True, "bf16": False},
    {"fp16": True, "bf16": True},
    {"fp16_full_eval": True, "bf16_full_eval": True},
    {"bf16_full_eval": True},
    {"lr_scheduler_type": "reduce_lr_on_plateau"},
    {"lr_scheduler_type": "reduce_lr_on_plateau", "eval_strategy": "epoch"},
    {"lr_scheduler_type": "greedy"},
    {"lr_scheduler_type": "greedy", "eval_strategy": "epoch"},
    {"warmup_steps": -1},
    {"warmup_steps": 0.1},
    {"warmup_ratio": 0.1},
    {"warmup_ratio": 1.5},
    {"dataloader_prefetch_factor": 2},
    {"dataloader_prefetch_factor": 2, "dataloader_num_workers": 2},
    {"torch_empty_cache_steps": 0},
    {"torch_empty_cache_steps": 10},
    {"report_to": "wandb"},
    {"report_to": ["wandb", "tensorboard"]},
    {"report_to": "all"},
    {"report_to": "wandbb"},
    {"debug": "underflow_overflow"},
    {"debug": "overflow"},
    {"fsdp": "full_shard"},
    {"fsdp": "full_shard auto_wrap"},
    {"fsdp": "full_shard auto-wrap"},
    {"fsdp": "full_shards"},
    {"fsdp": "no_shard shard_grad_op"},
    {"fsdp": "auto_wrap"},
    {"fsdp": True},
    {"fsdp": "offload"},
    {"fsdp_config": "nowhere.json", "fsdp": "full_shard"},
    {"fsdp_config": {"min_num_params": 2000}, "fsdp": "full_shard auto_wrap"},
    {"fsdp_config": {"min_num_params": 2000, "transformer_layer_cls_to_wrap": "Layer"}, "fsdp": "full_shard auto_wrap"},
    {"fsdp_config": {"xla": True, "fsdp_version": 2}, "fsdp": "full_shard"},
    {"fsdp_config": "{broken", "fsdp": "full_shard"},
    {"accelerator_config": {"split_batches": True}},
    {"accelerator_config": {"split_batch": True}},
    {"accelerator_config": "{broken"},
    {"accelerator_config": "nowhere.json"},
    {"lr_scheduler_kwargs": "{broken"},
    {"lr_scheduler_kwargs": {"num_cycles": 2}},
    {"gradient_checkpointing_kwargs": {"use_reentrant": False}},
    {"gradient_checkpointing_kwargs": "{'use_reentrant': False}"},
    {"model_init_kwargs": "{broken"},
    {"model_init_kwargs": {"dtype": "bfloat16"}},
    {"hub_model_id": "me/model", "push_to_hub": True},
    {"load_in_4bit": True, "load_in_8bit": True},
    {"load_in_4bit": True},
    {"lora_target_modules": "all-linear"},
    {"lora_target_modules": ["q_proj", "v_proj"]},
    {"dtype": "bfloat16"},
    {"dtype": "bfloat"},
    {"attn_implementation": "sdpa"},
    {"lora_task_type": "CAUSAL_LM"},
    {"bnb_4bit_quant_type": "nf4"},
    {"bnb_4bit_quant_type": "nf5"},
    {"ddp_backend": "nccl"},
    {"ddp_backend": "ncc"},
    {"torch_compile": True, "torch_compile_backend": "inductor"},
    {"include_for_metrics": ["loss"]},
    {"neftune_noise_alpha": 5},
    {"overwrite_output_dir": True},
    {"evaluation_strategy": "steps"},
    {"group_by_length": True},
    {"optim_args": "a=1"},
    {"log_level": "debug"},
    {"log_level": "debugg"},
    {"datasets": [{"path": "a/b"}]},
    {"datasets": [{"path": "a/b", "splits": "train"}]},
    {"datasets": [{"name": "a/b"}]},
]
GROUPS = [
    {"per_device_train_batch_size": 4, "num_generations": 8},
    {"per_device_train_batch_size": 4, "num_generations": 3},
    {"per_device_train_batch_size": 4, "gradient_accumulation_steps": 2, "num_generations": 8},
    {"generation_batch_size": 16},
    {"generation_batch_size": 12},
    {"steps_per_generation": 2},
    {"steps_per_generation": 2, "generation_batch_size": 16},
    {"num_generations": 1},
    {"num_generations": 2},
    {"num_generations": 0},
    {"eval_strategy": "epoch", "per_device_eval_batch_size": 4},
    {"eval_strategy": "epoch", "per_device_eval_batch_size": 4, "num_generations_eval": 4},
    {"eval_strategy": "epoch", "per_device_eval_batch_size": 3, "num_generations_eval": 2},
    {"reward_weights": [1.0]},
    {"reward_weights": ["one"]},
    {"reward_weights": 1.0},
    {"reward_funcs": "accuracy_reward"},
    {"cache_implementation": "static"},
    {"cast_lm_head_to_fp32": True},
    {"mask_truncated_completions": True},
    {"sync_ref_model": True},
    {"chat_template_kwargs": "{broken"},
    {"chat_template_kwargs": {"enable_thinking": False}},
    {"generation_kwargs": {"top_k": 1}},
    {"per_device_train_batch_size": 0},
    {"gradient_accumulation_steps": 0},
    {"auto_find_batch_size": True},
]
OF = {
    "grpo": GROUPS
    + [
        {"scale_rewards": True},
        {"scale_rewards": "none"},
        {"scale_rewards": False},
        {"loss_type": "dr_grpo"},
        {"delta": 2.0},
        {"delta": 0.1},
        {"log_completions_hub_repo": "me/table"},
        {"log_completions_hub_repo": "me/table", "log_completions": True},
        {"top_entropy_quantile": 0.2},
        {"importance_sampling_level": "sequence"},
        {"vllm_importance_sampling_mode": "token_mask"},
        {"num_iterations": 2},
        {"vllm_mode": "server", "use_vllm": True},
        {"use_liger_kernel": True, "top_entropy_quantile": 0.5},
        {"use_liger_loss": True},
        {"max_prompt_length": 512},
        {"epsilon_high": 0.28},
        {"multi_objective_aggregation": "sum_then_normalize"},
    ],
    "rloo": GROUPS + [{"normalize_advantages": True}, {"reward_clip_range": [-1.0, 1.0]}, {"reward_clip_range": -1.0}],
    "dpo": [
        {"loss_type": ["sigmoid", "sft"], "loss_weights": [1.0, 0.5]},
        {"loss_type": ["sigmoid", "sft"], "loss_weights": [1.0]},
        {"loss_type": "sigmoid"},
        {"loss_type": "sigmod"},
        {"loss_type": ["robust"], "label_smoothing": 0.5},
        {"label_smoothing": 0.1},
        {"f_divergence_type": "reverse_kl"},
        {"f_divergence_type": "reverse"},
        {"f_divergence_type": "js_divergence", "loss_type": "apo_zero"},
        {"truncation_mode": "keep_end"},
        {"truncation_mode": "keep_middle"},
        {"padding_free": True},
        {"precompute_ref_log_probs": True, "sync_ref_model": True},
        {"use_weighting": True},
        {"ld_alpha": 0.5},
        {"ref_model_init_kwargs": "{broken"},
        {"max_prompt_length": 128},
    ],
    "sft": [
        {"packing": True},
        {"packing": True, "packing_strategy": "bfd"},
        {"packing_strategy": "bfdd"},
        {"packing": True, "packing_strategy": "wrapped", "eval_packing": False},
        {"padding_free": True},
        {"assistant_only_loss": True},
        {"completion_only_loss": True},
        {"loss_type": "dft"},
        {"loss_type": "dtf"},
        {"dataset_kwargs": {"skip_prepare_dataset": True}},
        {"dataset_kwargs": "{broken"},
        {"max_seq_length": 512},
        {"chat_template_path": "a/b"},
        {"eos_token": "<|im_end|>"},
    ],
    "kto": [
        {"loss_type": "kto"},
        {"loss_type": "apo_zero_unpaired"},
        {"desirable_weight": 1.3},
        {"desirable_weight": "much"},
        {"per_device_train_batch_size": 1},
        {"precompute_ref_log_probs": True},
        {"max_prompt_length": 128},
    ],
    "reward": [
        {"center_rewards_coefficient": 0.01},
        {"center_rewards_coefficient": "some"},
        {"disable_dropout": False},
        {"activation_offloading": True},
        {"max_length": None},
    ],
}
# Flags, after those that every run here has.
LINES = [
    "--learning_rate",
    "--learning_rate 1e-6 2e-6",
    "--learning_rate fast",
    "--num_train_epochs 1.5",
    "--max_steps 1e3",
    "--max_steps 10.0",
    "--bf16",
    "--bf16 true",
    "--bf16 maybe",
    "--bf16=false",
    "--no_bf16",
    "--gradient_checkpointing",
    "--gradient_checkpointing off",
    "--report_to wandb tensorboard",
    "--report_to",
    "--eval_strategy no",
    "--eval_strategy never",
    "--eval_strategy",
    "--learning-rate 1e-6",
    "--lr 1e-6",
    "--lora_target_modules q_proj v_proj",
    "--lora_target_modules",
    "--lr_scheduler_kwargs '{\"num_cycles\": 2}'",
    "--dtype bfloat16",
    "--dtype half",
    "--seed -1",
    "--output_dir",
    "--load_best_model_at_end",
    "--load_best_model_at_end true --eval_strategy epoch --save_strategy epoch",
    "--logging_steps 0",
    "--warmup_steps -5",
    "--fsdp full_shard",
    "--fsdp 'full_shard auto_wrap'",
    "--fsdp 'full_shard wrap'",
    "--fsdp full_shard auto_wrap",
]


def single(fields):
    """One key is changed, and the rest stays what it was."""
    cases = [{key: value} for key in NUMBERS if key in fields for value in (0.5, "1e-5", "many", [1, 2], True, None)]
    cases += [{key: value} for key in COUNTS if key in fields for value in (8, "8", 2.5, "eight", [8], None)]
    cases += [{key: value} for key in FLAGS if key in fields for value in (False, "yes", "false", "maybe", 3)]
    cases += [{key: value} for key in NAMES if key in fields for value in ("none", "no", "steps", "cosine", "adamw_torch", "linaer", False)]
    return cases + [{key: 1} for key in SLIPS]


def cases(trainer, fields):
    for case in single(fields) + TOGETHER + OF[trainer]:
        yield {"trainer": trainer, "settings": case}
    for line in LINES:
        yield {"trainer": trainer, "flags": line}


def written(row):
    """The file or the flags that a row stands for, as test/unit/frameworks/askedTrl.test.ts writes them too."""
    base = {**BASE, **OWN.get(row["trainer"], {})}
    if "settings" in row:
        return "".join(f"{key}: {json.dumps(value)}\n" for key, value in {**base, **row["settings"]}.items())
    shown = lambda value: " ".join(value) if isinstance(value, list) else str(value)
    return " ".join(f"--{key} {shown(value)}" for key, value in base.items()) + f" {row['flags']}"


def verdict(parser, row):
    """None where it is accepted; else the error."""
    said = io.StringIO()
    try:
        with contextlib.redirect_stderr(said), contextlib.redirect_stdout(io.StringIO()), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            if "flags" in row:
                parser.parse_args_and_config(shlex.split(written(row)), fail_with_unknown_args=True)
            else:
                with tempfile.NamedTemporaryFile("w", suffix=".yaml") as file:
                    file.write(written(row))
                    file.flush()
                    parser.parse_args_and_config(["--config", file.name], fail_with_unknown_args=True)
    except SystemExit:
        return said.getvalue().strip().splitlines()[-1]
    except Exception as error:  # The class itself refuses: whichever error it raises, the run does not start.
        return f"{type(error).__name__}: {error}"
    return None


def of_environment(error):
    return error is not None and any(word in error for word in ENVIRONMENT)


def ask():
    import trl

    rows = []
    for trainer in TRAINERS:
        module = importlib.import_module(f"trl.scripts.{trainer}")
        fields = {field.name for kind in module.make_parser().dataclass_types for field in dataclasses.fields(kind)}
        for row in cases(trainer, fields):
            error = verdict(module.make_parser(), row)
            if of_environment(error):
                print("left out:", row, error, file=sys.stderr)
            else:
                rows.append({**row, "error": error and error.splitlines()[0][:120]})
    return trl.__version__, rows


def differences(kept, rows):
    """Rows of either side that the other lacks or answers otherwise."""
    answers = lambda side: {written(row): row["error"] is None for row in side}
    ours, theirs = answers(kept), answers(rows)
    return sorted(text for text in ours.keys() | theirs.keys() if ours.get(text) != theirs.get(text))


def main():
    release, rows = ask()
    if "--check" in sys.argv:
        with open(PATH, encoding="utf8") as file:
            kept = json.load(file)
        print(json.dumps({"release": release, "differing": differences(kept["rows"], rows)}))
        return
    base = {trainer: {**BASE, **OWN.get(trainer, {})} for trainer in TRAINERS}
    lines = ",\n".join("    " + json.dumps(row) for row in rows)
    with open(PATH, "w", encoding="utf8") as file:
        file.write(f'{{\n  "release": "{release}",\n  "base": {json.dumps(base)},\n  "rows": [\n{lines}\n  ]\n}}\n')


main()
