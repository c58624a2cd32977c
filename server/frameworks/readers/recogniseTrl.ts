/** Which of TRL's programs a YAML file is for, recognised by the keys that only some of them have. */
import { evidenceFor, hasStranger } from "./evidence.ts";
import { trainers } from "../releases/programs/trl.ts";

/** Keys of one trainer alone. */
const own: Readonly<Record<string, readonly string[]>> = {
  grpo: [
    ...["scale_rewards", "importance_sampling_level", "off_policy_mask_threshold", "top_entropy_quantile"],
    ...[
      "vllm_importance_sampling_correction",
      "vllm_importance_sampling_mode",
      "multi_objective_aggregation",
    ],
  ],
  rloo: ["normalize_advantages", "reward_clip_range"],
  dpo: ["f_divergence_type", "ld_alpha", "use_weighting", "discopop_tau", "loss_weights", "rpo_alpha"],
  sft: [
    ...["packing", "packing_strategy", "eval_packing", "completion_only_loss", "assistant_only_loss"],
    "dataset_text_field",
  ],
  kto: ["desirable_weight", "undesirable_weight"],
  reward: ["center_rewards_coefficient"],
  distillation: ["teacher_model_name_or_path", "teacher_model_server_url", "lmbda"],
};

/** Keys of several programs: the first of them counts if nothing else decides. */
const shared: readonly (readonly [trees: readonly string[], keys: readonly string[]])[] = [
  [
    ["grpo", "rloo"],
    [
      ...["num_generations", "reward_funcs", "reward_weights", "num_iterations", "epsilon_high"],
      ...["generation_batch_size", "steps_per_generation", "mask_truncated_completions"],
    ],
  ],
  [["grpo", "rloo", "distillation"], ["max_completion_length"]],
  [
    ["dpo", "kto"],
    ["precompute_ref_log_probs", "generate_during_eval"],
  ],
];

/** What Transformers' trainers and TRL's programs have in common. */
const general = [
  ...["model_name_or_path", "per_device_train_batch_size", "dataset_name", "output_dir", "learning_rate"],
  ...["gradient_accumulation_steps", "beta", "use_vllm", "bf16", "num_train_epochs", "max_steps"],
  ...["max_length", "loss_type", "datasets"],
];

/** @param hints the file's name and its comments: `dpo.yaml`, `# trl dpo --config this.yaml` */
export function trlTreeOf(keys: ReadonlySet<string>, hints: string): string | undefined {
  const started = /\btrl\s+(\w+)\s+--config/.exec(hints)?.[1];
  if (started !== undefined && trainers.some(({ name }) => name === started)) return started;
  const list = [...keys];
  const { known } = evidenceFor("trl", list);
  if (hasStranger(list) || known < (2 / 3) * list.length) return undefined;
  const count = (some: readonly string[]): number => some.filter((key) => keys.has(key)).length;
  const distinct = count([...new Set([...Object.values(own), ...shared.map(([, some]) => some)].flat())]);
  if (distinct === 0) return byName(keys, hints);
  // One key of a trainer does not decide.
  if (distinct < 2 && known < 3) return undefined;
  const alone = Object.keys(own).find((tree) => count(own[tree]!) > 0);
  if (alone !== undefined) return alone;
  const several = shared.find(([, some]) => count(some) > 0)?.[0];
  return several?.find((tree) => isIn(hints, tree)) ?? several?.[0];
}

/** Only keys that every trainer has: the file's name must decide. */
const byName = (keys: ReadonlySet<string>, hints: string): string | undefined =>
  general.filter((key) => keys.has(key)).length > 2 && keys.has("dataset_name")
    ? ["sft", "dpo", "kto"].find((tree) => isIn(hints, tree))
    : undefined;

const isIn = (hints: string, tree: string): boolean =>
  new RegExp(`(^|[^a-z])${tree}([^a-z]|$)`, "i").test(hints);
