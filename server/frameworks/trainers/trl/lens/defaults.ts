/** TRL 1.16: the defaults of unset keys (`releaseDefaults.ts` has those of other releases), and why some keys have no counterpart. */
import type { JsonObject } from "../../../../../shared/lib/json.ts";
import { reasonBy } from "../../../lens/settings.ts";

export const trlDefaults: JsonObject = {
  learning_rate: 1e-6,
  lr_scheduler_type: "linear",
  warmup_steps: 0,
  weight_decay: 0,
  adam_beta1: 0.9,
  adam_beta2: 0.999,
  adam_epsilon: 1e-8,
  max_grad_norm: 1,
  per_device_train_batch_size: 8,
  gradient_accumulation_steps: 1,
  num_train_epochs: 3,
  max_steps: -1,
  num_processes: 1,
  seed: 42,
  num_generations: 8,
  max_completion_length: 512,
  temperature: 1,
  top_p: 1,
  top_k: 0,
  repetition_penalty: 1,
  beta: 0,
  num_iterations: 1,
  epsilon: 0.2,
  sapo_temperature_neg: 1.05,
  sapo_temperature_pos: 1,
  vespo_k_pos: 2,
  vespo_lambda_pos: 3,
  vespo_k_neg: 3,
  vespo_lambda_neg: 2,
  importance_sampling_level: "token",
  multi_objective_aggregation: "sum_then_normalize",
  scale_rewards: "group",
  loss_type: "dapo",
  mask_truncated_completions: false,
  sync_ref_model: false,
  top_entropy_quantile: 1,
  entropy_coef: 0,
  use_adaptive_entropy: false,
  use_vllm: false,
  vllm_importance_sampling_correction: true,
  vllm_importance_sampling_mode: "sequence_mask",
  vllm_importance_sampling_clip_max: 3,
  use_bias_correction_kl: true,
  use_peft: false,
  lora_r: 16,
  lora_alpha: 32,
  lora_dropout: 0.05,
};

/** What `DPOConfig` adds to these, or changes. */
export const trlPreferenceDefaults: JsonObject = {
  ...trlDefaults,
  beta: 0.1,
  loss_type: ["sigmoid"],
  label_smoothing: 0,
  f_divergence_type: "reverse_kl",
  f_alpha_divergence_coef: 0.5,
  ld_alpha: 1,
  use_weighting: false,
  discopop_tau: 0.05,
  max_length: 1024,
};

export const trlReason = reasonBy(
  [
    [/^vllm_|^use_transformers|^transformers_|^ds3_|^cache_impl/, "names or tunes the engine that generates"],
    [
      /^(config_file|bf16|fp16|tf32|dtype|torch_dtype|load_in_|bnb_|attn_impl|gradient_checkpointing|activation_|use_liger|liger|torch_|deepspeed|fsdp|ddp_|optim|use_cache|cast_lm|parallelism|accelerator|mixed_precision|model_init|model_revision|trust_remote|router_aux|pad_to)/,
      "configures the machine that TRL runs on",
    ],
    [
      /^(logging_|log_|report_to|run_name|project|trackio|wandb|num_completions_to|push_to_hub|hub_|disable_tqdm|output_dir|overwrite_output)/,
      "Gradus records every run in its own store",
    ],
    [
      /^(eval_|do_eval|per_device_eval|num_generations_eval|metric_for|load_best|greater_is)/,
      "see the `evaluation` block",
    ],
    [/^(save_|resume|restore)/, "see the `checkpoint` block"],
    [
      /^(dataloader_|dataset_|shuffle_|remove_unused|ignore_data|data_seed|train_sampling)/,
      "configures how TRL reads data",
    ],
    [/^entropy_|adaptive_entropy/, "the bonus has a constant or a scheduled coefficient in Gradus"],
    [/^ref_model_|sync_ref/, "write a copy under `models` (`ema` or `polyak`) and name it in the `kl` entry"],
    [/^max_tool|chat_template|environment/, "this version has no conversations with tools"],
  ],
  "no counterpart in Gradus",
);
