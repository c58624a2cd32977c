/** Settings of TRL's that count only while another one is on: where trl/trainer/grpo_trainer.py reads them. */
import type { Form } from "../../text/document.ts";
import type { RuleModel } from "../../rules/rule.ts";

export interface Switch {
  readonly keys: readonly string[];
  /** What switches them. */
  readonly by: readonly string[];
  /** Why they are not read; undefined where they are, or where that cannot be known. */
  readonly off: (model: RuleModel) => string | undefined;
  readonly forms?: readonly Form[];
}

const whileOff =
  (flag: string) =>
  (model: RuleModel): string | undefined =>
    model.flag(flag) === false ? `\`${flag}\` is off` : undefined;

/** Read with some losses only. */
const withLoss =
  (...losses: readonly string[]) =>
  (model: RuleModel): string | undefined => {
    const loss = model.text("loss_type");
    return loss === undefined || losses.includes(loss) ? undefined : `the loss is \`${loss}\``;
  };

const mode =
  (other: string) =>
  (model: RuleModel): string | undefined =>
    model.flag("use_vllm") === true && model.text("vllm_mode") === other
      ? `\`vllm_mode\` is \`${other}\``
      : undefined;

const corrections = ["mode", "clip_min", "clip_max", "cap"].map((name) => `vllm_importance_sampling_${name}`);
const server = ["base_url", "host", "port", "timeout"].map((name) => `vllm_server_${name}`);
const engine = [
  "gpu_memory_utilization",
  "tensor_parallel_size",
  "enable_sleep_mode",
  "max_model_length",
].map((name) => `vllm_${name}`);

const reference = ["sync_ref_model"];
const clipped = ["grpo", "bnpo", "dr_grpo", "dapo", "luspo"];

export const switches: readonly Switch[] = [
  {
    keys: [
      ...server,
      ...engine,
      ...corrections,
      "vllm_mode",
      "vllm_model_impl",
      "vllm_group_port",
      "vllm_structured_outputs_regex",
      "vllm_guided_decoding_regex",
      "vllm_importance_sampling_correction",
    ],
    by: ["use_vllm"],
    off: whileOff("use_vllm"),
  },
  { keys: [...server, "vllm_group_port"], by: ["vllm_mode"], off: mode("colocate") },
  { keys: engine, by: ["vllm_mode"], off: mode("server") },
  {
    keys: corrections,
    by: ["vllm_importance_sampling_correction"],
    off: (model) =>
      model.flag("use_vllm") === true ? whileOff("vllm_importance_sampling_correction")(model) : undefined,
  },
  { keys: ["ref_model_mixup_alpha", "ref_model_sync_steps"], by: reference, off: whileOff("sync_ref_model") },
  {
    keys: ["use_bias_correction_kl"],
    by: ["beta"],
    off: (model) => (model.number("beta") === 0 ? "`beta` is 0, so there is no KL term" : undefined),
  },
  { keys: ["sapo_temperature_neg", "sapo_temperature_pos"], by: ["loss_type"], off: withLoss("sapo") },
  {
    keys: ["vespo_k_pos", "vespo_lambda_pos", "vespo_k_neg", "vespo_lambda_neg"],
    by: ["loss_type"],
    off: withLoss("vespo"),
  },
  { keys: ["delta"], by: ["loss_type"], off: withLoss(...clipped) },
  {
    keys: ["entropy_coef_min", "entropy_coef_max", "entropy_coef_delta", "entropy_target"],
    by: ["use_adaptive_entropy"],
    off: whileOff("use_adaptive_entropy"),
  },
  {
    keys: ["num_completions_to_print", "log_unique_prompts", "wandb_log_unique_prompts"],
    by: ["log_completions"],
    off: whileOff("log_completions"),
  },
  {
    keys: ["cache_implementation"],
    by: ["use_vllm"],
    off: (model) => (model.flag("use_vllm") === true ? "vLLM generates (`use_vllm`)" : undefined),
  },
  {
    keys: [
      "lora_r",
      "lora_alpha",
      "lora_dropout",
      "lora_target_modules",
      "lora_target_parameters",
      "lora_modules_to_save",
      "use_rslora",
      "use_dora",
    ],
    by: ["use_peft"],
    off: whileOff("use_peft"),
    forms: ["yaml", "script"],
  },
];
