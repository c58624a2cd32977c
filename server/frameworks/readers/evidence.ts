/**
 * The framework of a list of keys without a program, import or `defaults`. One key is not enough: `num_generations` or
 * `logger.wandb` are in many trainers' configurations. A list belongs to a framework if all of these hold:
 *
 * - it has two keys that only this framework has (`own`), or one and two more that it reads (one more where the keys are
 *   verl's dotted ones, whose sections identify them);
 * - it has no own key of another of the three, and none of the strangers below;
 * - the framework reads at least two thirds of the keys (half of a script's: its program may have flags of its own).
 *
 * Keys of older releases count as those of the newest, and so do misspelt ones: old and misspelt configurations get
 * diagnostics too.
 */
import { trainersThat } from "../../../shared/run/trainers.ts";
import { launcherArguments } from "../releases/facts/launcher.ts";
import { oldNames } from "../releases/facts/openrlhfNames.ts";
import { editDistance } from "../../lib/suggest.ts";
import { historyOf, tableOf } from "../releases/load.ts";
import type { Form, Framework } from "../text/document.ts";

/** Keys of trainers that share words with the three: none of these reads them. */
const strangers: ReadonlySet<string> = new Set([
  ...["tasks", "extends"],
  // LLaMA-Factory, ms-swift, Axolotl
  ...["stage", "finetuning_type", "rlhf_type", "train_type", "rl", "base_model", "sequence_len"],
  // open-instruct, NeMo RL, SkyRL
  ...["dataset_mixer", "dataset_mixer_list", "num_unique_prompts_rollout", "num_samples_per_prompt_rollout"],
  ...["preprocessing_num_workers", "use_slow_tokenizer", "loss_fn", "generator"],
  // EasyR1, AReaL, ROLL, prime-rl, slime
  "worker",
  ...["allocation_mode", "gconfig", "trial_name", "actor_train", "actor_infer", "orchestrator", "sglang"],
]);

/** Keys of TRL that many others use too, for the same or for something else. */
const common: ReadonlySet<string> = new Set(
  (
    "args attn_implementation batch_size beta callbacks compute_metrics config data_collator dataset_config dataset_name " +
    "datasets delta dtype entropy_coef eos_token epsilon eval_dataset exp_name kl_coef label_smoothing load_in_4bit " +
    "load_in_8bit local_batch_size lora_alpha lora_dropout lora_r lora_target_modules loss_type max_length " +
    "max_prompt_length micro_batch_size min_p mini_batch_size model model_init model_name_or_path model_revision " +
    "normalize_reward optimizers packing pad_token peft_config policy processing_class quantization_config ref_model " +
    "ref_policy repetition_penalty response_length reward_model stop_token streaming teacher_model temperature tools " +
    "top_k top_p torch_dtype total_episodes train_dataset trust_remote_code truncation_mode use_peft use_vllm " +
    "vllm_gpu_memory_utilization vllm_tensor_parallel_size vllm_enable_sleep_mode wandb_entity wandb_project world_size"
  ).split(" "),
);

/** Flags of OpenRLHF before 0.10 that only it has; other old ones are common words. */
const openrlhfFlat =
  /^(actor_num_(nodes|gpus_per_node)|(ref|reward|critic)_num_(nodes|gpus_per_node)|prompt_data(_probs)?|remote_rm_url|n_samples_per_prompt|micro_(rollout|train)_batch_size|init_kl_coef|colocate_(all_models|actor_ref|critic_reward)|(actor|critic)_learning_rate|prompt_max_len|generate_max_len|packing_samples|reward_pretrain|critic_pretrain|freezing_actor_steps|no_advantage_std_norm|dynamic_filtering_reward_range|eps_clip_low_high|agent_func_path|ring_attn_size)$/;

const isKnown: Readonly<Record<Framework, (key: string) => boolean>> = {
  verl: (key) => historyOf("verl", key).length > 0,
  trl: (key) => {
    const [top = ""] = key.split(".");
    const name = top.replace(/^no_/, "");
    return (
      launcherArguments.has(top) ||
      [top, name].some((one) => historyOf("trl", one).length > 0 || historyOf("transformers", one).length > 0)
    );
  },
  openrlhf: (key) => historyOf("openrlhf", key).length > 0 || key in oldNames,
};

const isOwn: Readonly<Record<Framework, (key: string) => boolean>> = {
  verl: (key) => /^(actor_rollout_ref|algorithm)\./.test(key) && isKnown.verl(key),
  trl: (key) => {
    const [top = ""] = key.split(".");
    return (
      !common.has(top) &&
      historyOf("trl", top).length > 0 &&
      historyOf("transformers", top).length === 0 &&
      !isKnown.openrlhf(top)
    );
  },
  openrlhf: (key) =>
    openrlhfFlat.test(key) ||
    (key.includes(".") && historyOf("openrlhf", key).length > 0 && !isKnown.verl(key)),
};

/** Every key that a framework had, for slips. */
const names = new Map<Framework, readonly string[]>();
function namesOf(framework: Framework): readonly string[] {
  const known = names.get(framework);
  if (known !== undefined) return known;
  const own = Object.keys(tableOf(framework).keys);
  const all = framework === "trl" ? [...own, ...Object.keys(tableOf("transformers").keys)] : own;
  names.set(framework, all);
  return all;
}

/** Read by it, below something that it reads whole, or misspelt. */
function isMeant(framework: Framework, key: string): boolean {
  if (isKnown[framework](key)) return true;
  const above = key.split(".").slice(0, -1).join(".");
  if (above.includes(".") && isMeant(framework, above)) return true;
  const alike = (name: string): boolean =>
    name[0] === key[0] && Math.abs(name.length - key.length) < 3 && editDistance(key, name, 2) <= 2;
  return key.length > 7 && namesOf(framework).some(alike);
}

const frameworks = trainersThat("checked");

interface KeyEvidence {
  /** Keys that only this framework has. */
  readonly own: number;
  /** Keys that it reads. */
  readonly known: number;
}

export const evidenceFor = (framework: Framework, keys: readonly string[]): KeyEvidence => ({
  own: keys.filter((key) => isOwn[framework](key)).length,
  known: keys.filter((key) => isMeant(framework, key)).length,
});

/** Many command lines accept dashes for underscores. */
export const hasStranger = (keys: readonly string[]): boolean =>
  keys.some((key) => strangers.has((key.split(".")[0] ?? "").replaceAll("-", "_")));

export function evidentOwner(keys: readonly string[], form: Form): Framework | undefined {
  const distinct = [...new Set(keys)];
  if (distinct.length === 0 || hasStranger(distinct)) return undefined;
  const found = frameworks
    .map((framework) => ({ framework, ...evidenceFor(framework, distinct) }))
    .filter(({ own }) => own > 0);
  const [only] = found;
  if (only === undefined || found.length > 1) return undefined;
  const enough = only.own >= 2 || only.known >= (only.framework === "verl" ? 2 : 3);
  const share = form === "script" ? 1 / 2 : 2 / 3;
  return enough && only.known >= share * distinct.length ? only.framework : undefined;
}

/** A section of a primary config that verl has in some release. */
export const isVerlSection = (name: string): boolean =>
  sections.has(name) || historyOf("verl", name).length > 0;

const sections: ReadonlySet<string> = new Set(
  (
    "actor actor_rollout_ref algorithm async_training checkpoint critic custom_reward_function data defaults distillation " +
    "global_profiler hydra model model_engine optim profiler ray_init ray_kwargs reward reward_manager reward_model rollout " +
    "sandbox_fusion trainer transfer_queue engine"
  ).split(" "),
);
