/** Numbers that a framework refuses or certainly fails on: it asserts them, divides by them, or passes them to code that does. */
import type { Framework } from "../../text/document.ts";

export interface NumberRange {
  readonly keys: RegExp;
  /** The bound itself is allowed. */
  readonly least?: number;
  readonly most?: number;
  /** The bound itself is not. */
  readonly above?: number;
  readonly below?: number;
  /** The flag that the code which refuses it runs with. */
  readonly where?: string;
  /** Why the framework refuses it. */
  readonly because: string;
}

const vllmShare = "vLLM takes a share of the GPU's memory";
const nucleus = "the inference engine takes a share of probability";
const engineRefuses = "the inference engine refuses it";
const optimizerRefuses = "the optimizer refuses it";
const dividesBatches = "the trainer divides batches by it";
const dividesGpus = "the trainer divides the GPUs by it";
const classRefuses = "its data class refuses it";
const counted = "a run needs at least one";

const trl: readonly NumberRange[] = [
  { keys: /^per_device_eval_batch_size$/, least: 1, because: "PyTorch's `DataLoader` refuses it" },
  { keys: /^gradient_accumulation_steps$/, least: 1, because: "the trainer divides by it" },
  { keys: /^max_completion_length$/, least: 1, because: "`generate` and vLLM refuse it" },
  { keys: /^top_p$/, least: 0, because: "`generate` and vLLM take a share of probability" },
  // `generate` cuts below 1 only, and takes any number above it.
  { keys: /^top_p$/, most: 1, because: "vLLM takes a share of probability", where: "use_vllm" },
  { keys: /^min_p$/, least: 0, most: 1, because: "`generate` and vLLM take a share of probability" },
  { keys: /^repetition_penalty$/, above: 0, because: "`generate` and vLLM refuse it" },
  { keys: /^top_entropy_quantile$/, least: 0, because: "`torch.quantile` takes 0 to 1" },
  { keys: /^vllm_gpu_memory_utilization$/, above: 0, most: 1, because: vllmShare },
  { keys: /^vllm_tensor_parallel_size$/, least: 1, because: "the trainer divides by it" },
  { keys: /^ref_model_sync_steps$/, least: 1, because: "the callback divides by it" },
  { keys: /^(learning_rate|weight_decay|adam_epsilon)$/, least: 0, because: optimizerRefuses },
  { keys: /^adam_beta[12]$/, least: 0, below: 1, because: optimizerRefuses },
  { keys: /^warmup_steps$/, least: 0, because: "`TrainingArguments` refuses it" },
  { keys: /^warmup_ratio$/, least: 0, most: 1, because: "`TrainingArguments` refuses it" },
  { keys: /^torch_empty_cache_steps$/, least: 1, because: "`TrainingArguments` refuses it" },
  { keys: /^dataloader_num_workers$/, least: 0, because: "PyTorch's `DataLoader` refuses it" },
  { keys: /^lora_r$/, least: 1, because: "PEFT refuses it" },
  { keys: /^lora_dropout$/, least: 0, most: 1, because: "PyTorch's `Dropout` refuses it" },
];

const verl: readonly NumberRange[] = [
  {
    keys: /^actor_rollout_ref\.rollout\.(val_kwargs\.)?n$/,
    least: 1,
    because: "it is the number of responses per prompt",
  },
  {
    keys: /^actor_rollout_ref\.rollout\.gpu_memory_utilization$/,
    above: 0,
    most: 1,
    because: "the inference engine takes a share of the GPU's memory",
  },
  { keys: /^actor_rollout_ref\.rollout\.(val_kwargs\.)?top_p$/, above: 0, most: 1, because: nucleus },
  { keys: /^actor_rollout_ref\.rollout\.(val_kwargs\.)?top_k$/, least: -1, because: engineRefuses },
  { keys: /^actor_rollout_ref\.rollout\.(val_kwargs\.)?temperature$/, least: 0, because: engineRefuses },
  {
    keys: /^actor_rollout_ref\.rollout\.(tensor_model_parallel_size|data_parallel_size|max_num_seqs)$/,
    least: 1,
    because: engineRefuses,
  },
  {
    keys: /^data\.(train_batch_size|gen_batch_size|max_prompt_length|max_response_length)$/,
    least: 1,
    because: "it is the size of a batch",
  },
  {
    keys: /^(actor_rollout_ref\.actor|critic)\.(ppo_mini_batch_size|ppo_micro_batch_size(_per_gpu)?)$/,
    least: 1,
    because: dividesBatches,
  },
  {
    keys: /^actor_rollout_ref\.(ref|rollout)\.log_prob_micro_batch_size(_per_gpu)?$/,
    least: 1,
    because: dividesBatches,
  },
  {
    keys: /\.(ulysses_sequence_parallel_size|ulysses_parallel_size|(tensor|pipeline)_model_parallel_size|context_parallel_size)$/,
    least: 1,
    because: dividesGpus,
  },
  { keys: /^trainer\.(nnodes|n_gpus_per_node)$/, least: 1, because: counted },
  {
    keys: /^(critic|actor_rollout_ref\.actor)\.optim\.(lr|weight_decay)$/,
    least: 0,
    because: optimizerRefuses,
  },
  { keys: /^data\.dataloader_num_workers$/, least: 0, because: "PyTorch's `DataLoader` refuses it" },
  { keys: /^reward\.num_workers$/, least: 1, because: "it is the number of reward workers" },
  {
    keys: /^actor_rollout_ref\.rollout\.agent\.num_workers$/,
    least: 1,
    because: "it is the number of agent workers",
  },
  {
    keys: /^trainer\.v1\.(parameter_sync_step|separate_async\.parameter_sync_step)$/,
    least: 1,
    because: "the trainer divides steps by it",
  },
  {
    keys: /^trainer\.v1\.\w+\.hybrid_rollout\.switch_threshold_ratio$/,
    above: 0,
    most: 1,
    because: classRefuses,
  },
  { keys: /^trainer\.v1\.\w+\.hybrid_rollout\.switch_cost_window_size$/, least: 1, because: classRefuses },
  {
    keys: /^actor_rollout_ref\.rollout\.trace\.max_samples_per_step_per_worker$/,
    least: 0,
    because: classRefuses,
  },
];

const openrlhf: readonly NumberRange[] = [
  {
    keys: /^(rollout\.(batch_size|micro_batch_size|n_samples_per_prompt|vllm_generate_batch_size)|train\.(batch_size|micro_batch_size))$/,
    least: 1,
    because: dividesBatches,
  },
  { keys: /^ds\.(ring_attn_size|tensor_parallel_size)$/, least: 1, because: dividesGpus },
  { keys: /^ds\.zero_stage$/, least: 0, most: 3, because: "DeepSpeed has stages 0 to 3" },
  { keys: /^vllm\.gpu_memory_utilization$/, above: 0, most: 1, because: vllmShare },
  { keys: /^(rollout\.top_p|eval\.top_p)$/, above: 0, most: 1, because: nucleus },
  { keys: /^(rollout|eval)\.temperature$/, least: 0, because: "vLLM refuses it" },
  {
    keys: /^(rollout\.max_new_tokens|data\.max_len|data\.prompt_max_len|generate_max_len)$/,
    least: 1,
    because: "vLLM refuses it",
  },
  { keys: /^logger\.logging_steps$/, least: 1, because: "the trainer divides by it" },
  { keys: /^(ckpt\.save_steps|eval\.steps)$/, least: -1, because: "-1 means never" },
  {
    keys: /^(actor|critic|ref|reward|vllm)\.(num_nodes|num_gpus_per_node|tensor_parallel_size)$/,
    least: 1,
    because: counted,
  },
  { keys: /^((actor|critic)\.)?(adam|muon)\.(lr|weight_decay)$/, least: 0, because: optimizerRefuses },
];

export const ranges: Readonly<Record<Framework, readonly NumberRange[]>> = { trl, verl, openrlhf };
