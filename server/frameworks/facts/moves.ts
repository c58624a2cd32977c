/** Renamed and removed keys that only the code and its history show. */
import { oldNames } from "./openrlhfNames.ts";
import type { Framework } from "../document.ts";

export interface Move {
  /** The key, or with a dot at its end a section with everything in it. */
  readonly from: string;
  /** Its new name, or the new section; absent if it was removed. */
  readonly to?: string;
  /** The first release without it. */
  readonly since: string;
  /** What else changes, or what is done instead. */
  readonly note?: string;
}

const nsys = "global_profiler.global_tool_config.nsys";
const correction = "algorithm.rollout_correction";

const verl: readonly Move[] = [
  ...["actor_rollout_ref.actor", "actor_rollout_ref.ref", "critic"].map((role) => ({
    from: `${role}.megatron.grad_offload`,
    since: "0.9.1",
    note: "`param_offload` releases the gradients' memory too: remove it.",
  })),
  { from: "ray_init.num_cpus", to: "ray_kwargs.ray_init.num_cpus", since: "0.6.0" },
  { from: "ray_init.timeline_json_file", to: "ray_kwargs.timeline_json_file", since: "0.6.0" },
  { from: "trainer.profile_steps", to: "global_profiler.steps", since: "0.6.0" },
  { from: "trainer.controller_nsight_options.", to: `${nsys}.controller_nsight_options.`, since: "0.6.0" },
  { from: "trainer.worker_nsight_options.", to: `${nsys}.worker_nsight_options.`, since: "0.6.0" },
  { from: "algorithm.rollout_is_threshold", to: `${correction}.rollout_is_threshold`, since: "0.6.1" },
  { from: "algorithm.rollout_is_level", to: `${correction}.rollout_is`, since: "0.6.1" },
  {
    from: "algorithm.rollout_is",
    since: "0.6.1",
    note: `\`${correction}.rollout_is\` holds the level, \`token\` or \`sequence\`, and is null if it is off.`,
  },
  {
    from: "algorithm.rollout_is_mode",
    since: "0.6.1",
    note: `A threshold in \`${correction}.rollout_is_threshold\` truncates; \`rollout_rs\` there rejects.`,
  },
  {
    from: "algorithm.rollout_is_veto_threshold",
    since: "0.6.1",
    note: `Rejection is \`${correction}.rollout_rs\` with \`rollout_rs_threshold\`.`,
  },
  {
    from: "actor_rollout_ref.rollout.update_weights_bucket_megabytes",
    to: "actor_rollout_ref.rollout.checkpoint_engine.update_weights_bucket_megabytes",
    since: "0.7.1",
  },
  { from: "reward_manager.", to: "reward.reward_manager.", since: "0.7.1" },
  { from: "reward_model.sandbox_fusion.", to: "reward.sandbox_fusion.", since: "0.7.1" },
  {
    from: "reward_model.launch_reward_fn_async",
    since: "0.7.1",
    note: "verl always computes rewards next to generation: remove it.",
  },
  {
    from: "reward_model.use_reward_loop",
    since: "0.7.1",
    note: "Only the reward loop is left: remove it.",
  },
  {
    from: `${correction}.rollout_token_veto_threshold`,
    since: "0.7.1",
    note: `Rejection is \`${correction}.rollout_rs\` with \`rollout_rs_threshold\`.`,
  },
  {
    from: `${correction}.rollout_rs_threshold_lower`,
    since: "0.7.1",
    note: "Both bounds are in `rollout_rs_threshold`, as `lower_upper`.",
  },
  { from: "critic.model.fsdp_config.", to: "critic.fsdp.", since: "0.8.0" },
  {
    from: "data.sampler.",
    since: "0.8.0",
    note: "Order the data in your own dataset class (`data.custom_cls`), or choose samples in `trainer.v1.sampler.custom_sampler`.",
  },
  {
    from: "data.datagen.",
    since: "0.8.0",
    note: "Make the rows in your own dataset class: `data.custom_cls`.",
  },
  {
    from: "trainer.use_legacy_worker_impl",
    since: "0.8.0",
    note: "Only one implementation of the workers is left: remove it.",
  },
  { from: "actor_rollout_ref.rollout.skip_rollout", to: "skip.rollout.enable", since: "0.9.0" },
  { from: "actor_rollout_ref.rollout.skip_dump_dir", to: "skip.rollout.dump_dir", since: "0.9.0" },
  {
    from: "actor_rollout_ref.rollout.skip_rollout",
    to: "actor_rollout_ref.rollout.skip.enable",
    since: "0.8.0",
  },
  {
    from: "actor_rollout_ref.rollout.skip_dump_dir",
    to: "actor_rollout_ref.rollout.skip.dump_dir",
    since: "0.8.0",
  },
  { from: "actor_rollout_ref.rollout.skip.enable", to: "skip.rollout.enable", since: "0.9.0" },
  { from: "actor_rollout_ref.rollout.skip.dump_dir", to: "skip.rollout.dump_dir", since: "0.9.0" },
  { from: "actor_rollout_ref.rollout.skip.action", to: "skip.rollout.action", since: "0.9.0" },
];

const trl: readonly Move[] = [
  { from: "torch_dtype", to: "dtype", since: "0.27.0" },
  { from: "wandb_log_unique_prompts", to: "log_unique_prompts", since: "0.27.0" },
  {
    from: "gradient_checkpointing_use_reentrant",
    since: "0.27.0",
    note: "Write `gradient_checkpointing_kwargs` with `use_reentrant` in it.",
  },
  {
    from: "max_prompt_length",
    since: "0.28.0",
    note: "TRL no longer truncates prompts: remove long ones from the dataset.",
  },
  { from: "use_liger_loss", to: "use_liger_kernel", since: "0.28.0" },
  { from: "vllm_guided_decoding_regex", to: "vllm_structured_outputs_regex", since: "0.28.0" },
  { from: "vllm_max_model_len", to: "vllm_max_model_length", since: "0.20.0" },
  { from: "max_completion_len", to: "max_completion_length", since: "0.20.0" },
  { from: "vllm_device", since: "0.20.0", note: "`vllm_mode` says where vLLM runs: `server` or `colocate`." },
  { from: "evaluation_strategy", to: "eval_strategy", since: "0.20.0" },
  { from: "no_cuda", to: "use_cpu", since: "1.0.0" },
  {
    from: "use_mps_device",
    since: "1.0.0",
    note: "Transformers uses Apple's GPU if there is one: remove it.",
  },
  { from: "per_gpu_train_batch_size", to: "per_device_train_batch_size", since: "0.20.0" },
  {
    from: "warmup_ratio",
    since: "1.0.0",
    note: "`warmup_steps` below 1 is a share of all steps.",
  },
  { from: "group_by_length", since: "1.0.0", note: "Write `train_sampling_strategy: group_by_length`." },
  {
    from: "overwrite_output_dir",
    since: "1.0.0",
    note: "Transformers 5 writes into the folder as it is: remove it.",
  },
  { from: "logging_dir", since: "1.0.0", note: "TensorBoard's folder is set by `TENSORBOARD_LOGGING_DIR`." },
  { from: "save_safetensors", since: "1.0.0", note: "Checkpoints are always safetensors: remove it." },
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
  ...Object.entries({
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
  }).map(([from, to]) => ({ from, to, since: dotted })),
  { from: "actor_init_on_gpu", since: dotted, note: "Remove it." },
  { from: "ptx_coef", since: dotted, note: "The pretraining loss is gone: remove it." },
  { from: "perf", since: dotted, note: "Remove it." },
  {
    from: "flash_attn",
    since: "0.8.11",
    note: "`--ds.attn_implementation flash_attention_2` is the default.",
  },
  { from: "bf16", since: "0.9.2", note: "`--ds.param_dtype bf16` is the default." },
  {
    from: "prompt_max_len",
    since: "0.9.8",
    note: "`--data.max_len` bounds prompt and response together, `--rollout.max_new_tokens` the response.",
  },
  {
    from: "use_icepop",
    since: "0.9.4",
    note: "`--algo.advantage.is_correction_level token` with mode `mask` is the same.",
  },
  {
    from: "algo.advantage.is_correction_enable",
    since: "0.11.2",
    note: "`--algo.advantage.is_correction_level` is `token` or `seq` if it is on.",
  },
  {
    from: "algo.advantage.is_correction_type",
    since: "0.11.2",
    note: "tis: level `token`, mode `clip`. icepop: level `token`, mode `mask`. seq-mask-tis: level `seq`, mode `mask`.",
  },
  {
    from: "enable_vllm_is_correction",
    since: dotted,
    note: "`--algo.advantage.is_correction_level` is `token` or `seq` if it is on.",
  },
  {
    from: "vllm_is_correction_type",
    since: dotted,
    note: "`--algo.advantage.is_correction_level` and `--algo.advantage.is_correction_mode` say the same.",
  },
];

/** The names of OpenRLHF's flags before 0.10.2, by their current names. */
export const flatNames: ReadonlyMap<string, string> = new Map(
  openrlhf.flatMap(({ from, to }) => (to === undefined ? [] : [[to, from]])),
);

const moves: Readonly<Record<Framework, readonly Move[]>> = { verl, trl, openrlhf };

/** What happened to a key that the release lacks; `to` is a whole key. */
export function moveOf(framework: Framework, key: string): Move | undefined {
  const move = moves[framework].find(({ from }) =>
    from.endsWith(".") ? key.startsWith(from) : key === from,
  );
  if (move?.to === undefined || !move.from.endsWith(".")) return move;
  return { ...move, from: key, to: `${move.to}${key.slice(move.from.length)}` };
}
