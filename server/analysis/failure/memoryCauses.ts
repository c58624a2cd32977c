/** Memory that ran out: on the device by what was computed, in the inference engine, and of the machine. */
import type { Cause } from "./cause.ts";

const device =
  /(?:OutOfMemoryError|RuntimeError|AcceleratorError)\b.*: ?(?:CUDA|HIP|CUDA Error|CUDA error)[^\n]*out of memory/i;
const wanted = (text: string): string => {
  const size = /Tried to allocate ([\d.]+ [KMG]iB)/.exec(text)?.[1];
  return size === undefined ? "" : `, when ${size} more were asked for`;
};

export const memoryCauses: readonly Cause[] = [
  {
    pattern: device,
    frame: /\/(?:vllm|sglang)\/|wake_up|generate_sequences|_initialize_kv_caches|resume_memory_occupation/,
    says: ({ input }) =>
      `The device ran out of memory while the inference engine was at work${wanted(input)}`,
    keys: {
      verl: "actor_rollout_ref.rollout.gpu_memory_utilization",
      trl: "vllm_gpu_memory_utilization",
      openrlhf: "vllm.gpu_memory_utilization",
      gradus: "rollout.lanes",
    },
    action: (key) =>
      `Lower ${key}, for example to 0.4, so that the trainer's weights fit next to the engine's cache.`,
    words: "the share of the device's memory that the inference engine takes",
  },
  {
    pattern: device,
    frame: / (?:backward|_engine_run_backward)$|run_backward/,
    says: ({ input }) => `The device ran out of memory in the backward pass${wanted(input)}`,
    keys: {
      verl: "actor_rollout_ref.actor.ppo_micro_batch_size_per_gpu",
      trl: "per_device_train_batch_size",
      openrlhf: "train.micro_batch_size",
      gradus: "update.micro_tokens",
    },
    action: (key) =>
      `Lower ${key}, and accumulate gradients over as many more micro-batches, or shorten the longest response.`,
    words: "the micro-batch of the update",
  },
  {
    pattern: device,
    frame:
      /compute_(?:ref_)?log_prob|_get_per_token_logps|get_per_token_logps|compute_entropy|make_experience/,
    says: ({ input }) => `The device ran out of memory while log-probs were computed${wanted(input)}`,
    keys: {
      verl: "actor_rollout_ref.rollout.log_prob_micro_batch_size_per_gpu",
      trl: "per_device_train_batch_size",
      openrlhf: "rollout.micro_batch_size",
      gradus: "update.micro_tokens",
    },
    action: (key) =>
      `Lower ${key}: logits of a long response over the whole vocabulary take most of this memory.`,
    words: "the micro-batch of the log-probs",
  },
  {
    pattern: device,
    frame: /optim\/.* step$|\/optimizer.* step$|_init_group|adamw?\.py/,
    says: ({ input }) => `The device ran out of memory in the optimiser's step${wanted(input)}`,
    keys: {
      verl: "actor_rollout_ref.actor.fsdp_config.optimizer_offload",
      trl: "optim",
      openrlhf: "ds.adam_offload",
      gradus: "model.adapter",
    },
    action: (key) =>
      `Set ${key} so that the optimiser's state leaves the device or gets smaller (offload, an 8-bit optimiser), or train an adapter.`,
    words: "the optimiser's state",
  },
  {
    pattern: device,
    frame: /from_pretrained|_build_model|build_model|init_model|load_model|_load_state_dict|load_checkpoint/,
    says: ({ input }) => `The device ran out of memory while a model was loaded${wanted(input)}`,
    keys: {
      verl: "actor_rollout_ref.actor.fsdp_config.param_offload",
      trl: "model_init_kwargs",
      openrlhf: "ds.zero_stage",
      gradus: "model.base",
    },
    action: (key) =>
      `Set ${key} so that the weights are split, offloaded or of 16 bits, or use a smaller model.`,
    words: "how the model is loaded",
  },
  {
    pattern: device,
    says: ({ input }) => `The device ran out of memory${wanted(input)}`,
    keys: {
      verl: "actor_rollout_ref.actor.ppo_micro_batch_size_per_gpu",
      trl: "per_device_train_batch_size",
      openrlhf: "train.micro_batch_size",
      gradus: "update.micro_tokens",
    },
    action: (key) => `Lower ${key}, or shorten the longest response.`,
    words: "the micro-batch",
  },
  {
    pattern:
      /No available memory for the cache blocks|larger than the maximum number of tokens that can be stored in KV cache|larger than the available KV cache memory/,
    says: () => "The inference engine has no room for its cache of one longest sequence",
    keys: {
      verl: "actor_rollout_ref.rollout.gpu_memory_utilization",
      trl: "vllm_gpu_memory_utilization",
      openrlhf: "vllm.gpu_memory_utilization",
      gradus: "rollout.max_tokens",
    },
    action: (key) =>
      `Raise ${key}, shorten the longest prompt and response, or split the engine over more devices.`,
    words: "the share of the device's memory that the inference engine takes",
  },
  {
    pattern: /Free memory on device.*is less than desired GPU memory utilization/,
    says: () => "The device has less free memory than the inference engine is to take",
    keys: {
      verl: "actor_rollout_ref.rollout.gpu_memory_utilization",
      trl: "vllm_gpu_memory_utilization",
      openrlhf: "vllm.gpu_memory_utilization",
    },
    action: (key) => `Lower ${key}, or end the process that has the memory: nvidia-smi lists it.`,
    words: "the share of the device's memory that the inference engine takes",
  },
  {
    pattern: /running low on memory|ray\.exceptions\.OutOfMemoryError|exceeds the memory usage threshold/,
    says: () => "The machine ran out of memory (RAM), and Ray ended a worker",
    keys: {
      verl: "actor_rollout_ref.actor.fsdp_config.optimizer_offload",
      openrlhf: "ds.adam_offload",
      gradus: "engine.memory",
    },
    action: (key) =>
      `Turn ${key} off, use fewer workers for data, or a machine with more memory: what is offloaded from devices is in RAM.`,
    words: "what is offloaded from the device",
  },
];
