/** Renamed and removed keys that only the code and its history show. */
import { oldNames } from "./openrlhfNames.ts";
import type { Framework } from "../../text/document.ts";

export interface Move {
  /** The key, or with a dot at its end a section with everything in it. */
  readonly from: string;
  /** Its new name, or the new section; absent if it was removed. */
  readonly to?: string;
  /** The first release without it. */
  readonly since: string;
  /** What else changes, or what is done instead. */
  readonly note?: string;
  /** The only program that it is true of; absent: all. */
  readonly tree?: string;
}

/** From a release on, keys have new names. */
const renamed = (since: string, names: Readonly<Record<string, string>>): Move[] =>
  Object.entries(names).map(([from, to]) => ({ from, to, since }));

/** A release removed keys: each with what is done instead. */
const removed = (since: string, notes: Readonly<Record<string, string>>): Move[] =>
  Object.entries(notes).map(([from, note]) => ({ from, since, note }));

const nsys = "global_profiler.global_tool_config.nsys";
const correction = "algorithm.rollout_correction";

const verl: readonly Move[] = [
  ...["actor_rollout_ref.actor", "actor_rollout_ref.ref", "critic"].map((role) => ({
    from: `${role}.megatron.grad_offload`,
    since: "0.9.1",
    note: "`param_offload` releases the gradients' memory too: remove it.",
  })),
  ...renamed("0.6.0", {
    "ray_init.num_cpus": "ray_kwargs.ray_init.num_cpus",
    "ray_init.timeline_json_file": "ray_kwargs.timeline_json_file",
    "trainer.profile_steps": "global_profiler.steps",
    "trainer.controller_nsight_options.": `${nsys}.controller_nsight_options.`,
    "trainer.worker_nsight_options.": `${nsys}.worker_nsight_options.`,
  }),
  ...renamed("0.6.1", {
    "algorithm.rollout_is_threshold": `${correction}.rollout_is_threshold`,
    "algorithm.rollout_is_level": `${correction}.rollout_is`,
  }),
  ...removed("0.6.1", {
    "algorithm.rollout_is": `\`${correction}.rollout_is\` holds the level, \`token\` or \`sequence\`, and is null if it is off.`,
    "algorithm.rollout_is_mode": `A threshold in \`${correction}.rollout_is_threshold\` truncates; \`rollout_rs\` there rejects.`,
    "algorithm.rollout_is_veto_threshold": `Rejection is \`${correction}.rollout_rs\` with \`rollout_rs_threshold\`.`,
  }),
  ...renamed("0.7.1", {
    "actor_rollout_ref.rollout.update_weights_bucket_megabytes":
      "actor_rollout_ref.rollout.checkpoint_engine.update_weights_bucket_megabytes",
    "reward_manager.": "reward.reward_manager.",
    "reward_model.sandbox_fusion.": "reward.sandbox_fusion.",
  }),
  ...removed("0.7.1", {
    "reward_model.launch_reward_fn_async": "verl always computes rewards next to generation: remove it.",
    "reward_model.use_reward_loop": "Only the reward loop is left: remove it.",
    [`${correction}.rollout_token_veto_threshold`]: `Rejection is \`${correction}.rollout_rs\` with \`rollout_rs_threshold\`.`,
    [`${correction}.rollout_rs_threshold_lower`]:
      "Both bounds are in `rollout_rs_threshold`, as `lower_upper`.",
  }),
  ...renamed("0.8.0", { "critic.model.fsdp_config.": "critic.fsdp." }),
  ...removed("0.8.0", {
    "data.sampler.":
      "Order the data in your own dataset class (`data.custom_cls`), or choose samples in `trainer.v1.sampler.custom_sampler`.",
    "data.datagen.": "Make the rows in your own dataset class: `data.custom_cls`.",
    "trainer.use_legacy_worker_impl": "Only one implementation of the workers is left: remove it.",
  }),
  ...renamed("0.9.0", {
    "actor_rollout_ref.rollout.skip_rollout": "skip.rollout.enable",
    "actor_rollout_ref.rollout.skip_dump_dir": "skip.rollout.dump_dir",
    "actor_rollout_ref.rollout.skip.enable": "skip.rollout.enable",
    "actor_rollout_ref.rollout.skip.dump_dir": "skip.rollout.dump_dir",
    "actor_rollout_ref.rollout.skip.action": "skip.rollout.action",
  }),
];

/** RLOO was written anew upon GRPO's trainer. */
const rewritten = "0.25.1";
const ofRloo = (moves: readonly Move[]): Move[] => moves.map((move) => ({ ...move, tree: "rloo" }));

const trl: readonly Move[] = [
  ...renamed("0.27.0", {
    torch_dtype: "dtype",
    wandb_log_unique_prompts: "log_unique_prompts",
  }),
  ...removed("0.27.0", {
    gradient_checkpointing_use_reentrant: "Write `gradient_checkpointing_kwargs` with `use_reentrant` in it.",
  }),
  ...removed("0.28.0", {
    max_prompt_length: "TRL no longer truncates prompts: remove long ones from the dataset.",
  }),
  ...renamed("0.28.0", {
    use_liger_loss: "use_liger_kernel",
    vllm_guided_decoding_regex: "vllm_structured_outputs_regex",
  }),
  ...renamed("0.20.0", {
    vllm_max_model_len: "vllm_max_model_length",
    max_completion_len: "max_completion_length",
    evaluation_strategy: "eval_strategy",
    per_gpu_train_batch_size: "per_device_train_batch_size",
  }),
  ...removed("0.20.0", { vllm_device: "`vllm_mode` says where vLLM runs: `server` or `colocate`." }),
  ...renamed("1.0.0", { no_cuda: "use_cpu" }),
  ...removed("1.0.0", {
    use_mps_device: "Transformers uses Apple's GPU if there is one: remove it.",
    warmup_ratio: "`warmup_steps` below 1 is a share of all steps.",
    group_by_length: "Write `train_sampling_strategy: group_by_length`.",
    overwrite_output_dir: "Transformers 5 writes into the folder as it is: remove it.",
    logging_dir: "TensorBoard's folder is set by `TENSORBOARD_LOGGING_DIR`.",
    save_safetensors: "Checkpoints are always safetensors: remove it.",
  }),
  ...ofRloo([
    ...renamed(rewritten, {
      rloo_k: "num_generations",
      kl_coef: "beta",
      cliprange: "epsilon",
      response_length: "max_completion_length",
      num_ppo_epochs: "num_iterations",
      num_mini_batches: "steps_per_generation",
      normalize_advantage: "normalize_advantages",
    }),
    ...removed(rewritten, {
      total_episodes:
        "`--max_steps` counts optimiser steps instead, `--num_train_epochs` passes over the prompts.",
      local_rollout_forward_batch_size: "`--per_device_train_batch_size` sets both batches: remove it.",
      missing_eos_penalty: "`--mask_truncated_completions` leaves cut answers out of the loss.",
      stop_token: "Generation ends at the tokenizer's end token: remove it.",
      token_level_kl: "The divergence is of the whole answer: remove it.",
      reward_clip_range: "Clip in the reward function.",
    }),
  ]),
];

/** OpenRLHF renamed all its flags by section in one release. */
const dotted = "0.10.2";
const openrlhf: readonly Move[] = [
  ...Object.entries(oldNames)
    .filter(
      ([from]) =>
        !["bf16", "prompt_max_len", "enable_vllm_is_correction", "vllm_is_correction_type"].includes(from),
    )
    .map(([from, to]) => ({ from, to, since: dotted })),
  ...renamed(dotted, {
    adam_offload: "ds.adam_offload",
    async_queue_size: "train.async_queue_size",
    attn_implementation: "ds.attn_implementation",
    aux_loss_coef: "actor.aux_loss_coef",
    best_metric_key: "ckpt.best_metric_key",
    colocate_actor_ref: "train.colocate_actor_ref",
    colocate_critic_reward: "train.colocate_critic_reward",
    critic_num_gpus_per_node: "critic.num_gpus_per_node",
    critic_num_nodes: "critic.num_nodes",
    dataloader_num_workers: "data.dataloader_num_workers",
    deepcompile: "ds.deepcompile",
    deepspeed_enable_sleep: "ds.enable_sleep",
    disable_ds_ckpt: "ckpt.disable_ds",
    disable_fast_tokenizer: "data.disable_fast_tokenizer",
    ds_tensor_parallel_size: "ds.tensor_parallel_size",
    ema_beta: "train.ema_beta",
    enable_ema: "train.enable_ema",
    enable_prefix_caching: "vllm.enable_prefix_caching",
    enforce_eager: "vllm.enforce_eager",
    eval_n_samples_per_prompt: "eval.n_samples_per_prompt",
    eval_split: "eval.split",
    eval_temperature: "eval.temperature",
    freeze_visual_encoder: "actor.freeze_visual_encoder",
    freezing_actor_steps: "critic.freezing_steps",
    full_determinism: "train.full_determinism_enable",
    grad_accum_dtype: "ds.grad_accum_dtype",
    gradient_checkpointing_use_reentrant: "actor.gradient_checkpointing_reentrant",
    image_key: "data.image_key",
    load_checkpoint: "ckpt.load_enable",
    load_in_4bit: "ds.load_in_4bit",
    logging_steps: "logger.logging_steps",
    max_ckpt_mem: "ckpt.max_mem",
    max_ckpt_num: "ckpt.max_num",
    max_images_per_prompt: "data.max_images_per_prompt",
    max_new_tokens: "rollout.max_new_tokens",
    overlap_comm: "ds.overlap_comm",
    param_dtype: "ds.param_dtype",
    partial_rollout: "train.partial_rollout_enable",
    ref_num_gpus_per_node: "ref.num_gpus_per_node",
    ref_num_nodes: "ref.num_nodes",
    ref_reward_offload: "ref.offload",
    reward_num_gpus_per_node: "reward.num_gpus_per_node",
    reward_num_nodes: "reward.num_nodes",
    ring_attn_size: "ds.ring_attn_size",
    ring_head_stride: "ds.ring_attn_head_stride",
    rollout_max_tokens_per_gpu: "rollout.max_tokens_per_gpu",
    save_hf_ckpt: "ckpt.save_hf",
    save_value_network: "critic.save_value_network",
    target_modules: "ds.lora.target_modules",
    train_max_tokens_per_gpu: "train.max_tokens_per_gpu",
    use_ds_universal_ckpt: "ds.use_universal_ckpt",
    use_dynamic_batch: "train.dynamic_batch_enable",
    use_liger_kernel: "ds.use_liger_kernel",
    use_tensorboard: "logger.tensorboard_dir",
    value_head_prefix: "ds.value_head_prefix",
    vllm_enable_sleep: "vllm.enable_sleep",
    vllm_generate_batch_size: "rollout.vllm_generate_batch_size",
    vllm_gpu_memory_utilization: "vllm.gpu_memory_utilization",
    vllm_sync_backend: "vllm.sync_backend",
    vllm_sync_with_ray: "vllm.sync_with_ray",
    vllm_tensor_parallel_size: "vllm.tensor_parallel_size",
    wandb_group: "logger.wandb.group",
    wandb_org: "logger.wandb.org",
    wandb_project: "logger.wandb.project",
    wandb_run_name: "logger.wandb.run_name",
    zpg: "ds.zpg",
  }),
  ...removed(dotted, {
    actor_init_on_gpu: "Remove it.",
    ptx_coef: "The pretraining loss is gone: remove it.",
    perf: "Remove it.",
    enable_vllm_is_correction: "`--algo.advantage.is_correction_level` is `token` or `seq` if it is on.",
    vllm_is_correction_type:
      "`--algo.advantage.is_correction_level` and `--algo.advantage.is_correction_mode` say the same.",
  }),
  ...removed("0.8.11", { flash_attn: "`--ds.attn_implementation flash_attention_2` is the default." }),
  ...removed("0.9.2", { bf16: "`--ds.param_dtype bf16` is the default." }),
  ...removed("0.9.8", {
    prompt_max_len:
      "`--data.max_len` bounds prompt and response together, `--rollout.max_new_tokens` the response.",
  }),
  ...removed("0.9.4", {
    use_icepop: "`--algo.advantage.is_correction_level token` with mode `mask` is the same.",
  }),
  ...removed("0.11.2", {
    "algo.advantage.is_correction_enable":
      "`--algo.advantage.is_correction_level` is `token` or `seq` if it is on.",
    "algo.advantage.is_correction_type":
      "tis: level `token`, mode `clip`. icepop: level `token`, mode `mask`. seq-mask-tis: level `seq`, mode `mask`.",
  }),
];

/** The names of OpenRLHF's flags before 0.10.2, by their current names. */
export const flatNames: ReadonlyMap<string, string> = new Map(
  openrlhf.flatMap(({ from, to }) => (to === undefined ? [] : [[to, from]])),
);

const moves: Readonly<Record<Framework, readonly Move[]>> = { verl, trl, openrlhf };

/** The names that a key had in earlier releases. */
export const earlierNames = (framework: Framework, key: string): readonly string[] => [
  ...moves[framework].flatMap(({ from, to, tree }) => (to === key && tree === undefined ? [from] : [])),
  ...(framework === "openrlhf" ? Object.keys(oldNames).filter((name) => oldNames[name] === key) : []),
];

/** What happened to a key that the release lacks; `to` is a whole key. */
export function moveOf(framework: Framework, key: string, program?: string): Move | undefined {
  const move = moves[framework].find(
    ({ from, tree }) =>
      (tree === undefined || tree === program) && (from.endsWith(".") ? key.startsWith(from) : key === from),
  );
  if (move?.to === undefined || !move.from.endsWith(".")) return move;
  return { ...move, from: key, to: `${move.to}${key.slice(move.from.length)}` };
}
