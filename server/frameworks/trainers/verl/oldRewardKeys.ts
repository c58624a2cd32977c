/** The sections of verl's rewards before 0.9, which its tree still has and its own trainer no longer reads. */
/** The first release that does not read them. */
export const unreadSince = "0.9.0";

/** The new keys of the old sections' settings. */
const now: Readonly<Record<string, string>> = {
  "custom_reward_function.path": "reward.custom_reward_function.path",
  "custom_reward_function.name": "reward.custom_reward_function.name",
  "reward_model.num_workers": "reward.num_workers",
  "reward_model.reward_manager": "reward.reward_manager.name",
  "reward_model.enable": "reward.reward_model.enable",
  "reward_model.enable_resource_pool": "reward.reward_model.enable_resource_pool",
  "reward_model.n_gpus_per_node": "reward.reward_model.n_gpus_per_node",
  "reward_model.nnodes": "reward.reward_model.nnodes",
  "reward_model.model.path": "reward.reward_model.model_path",
  "reward_model.reward_loop_source": "reward.reward_manager.source",
  "reward_model.reward_loop_module_path": "reward.reward_manager.module.path",
  "reward_model.reward_loop_class_name": "reward.reward_manager.module.name",
};
const oldSection = /^(custom_reward_function|reward_model|sandbox_fusion)\./;

/** The old sections' keys with their new names; those of nested sections keep theirs. */
export function newName(key: string): string | undefined {
  if (!oldSection.test(key)) return undefined;
  if (Object.hasOwn(now, key)) return now[key];
  if (key.startsWith("reward_model.rollout.")) return key.replace(/^reward_model/, "reward.reward_model");
  const moved = key
    .replace(/^custom_reward_function\.reward_kwargs/, "reward.custom_reward_function.reward_kwargs")
    .replace(/^reward_model\.reward_kwargs/, "reward.reward_kwargs")
    .replace(/^sandbox_fusion/, "reward.sandbox_fusion");
  return moved === key ? undefined : moved;
}
