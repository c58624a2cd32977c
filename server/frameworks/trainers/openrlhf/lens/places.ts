import type { SettingsOfPaths } from "../../../lens/types.ts";

/** Which settings wrote a value of the converted config. */
export const openrlhfPlaces: SettingsOfPaths = [
  [/^seed$/, "train.seed"],
  [/^steps$/, "data.max_samples"],
  [/^model\.adapter/, "ds.lora.rank"],
  [/^model/, "actor.model_name_or_path"],
  [/^models\.critic/, "critic.model_name_or_path"],
  [/^tasks\.[^.]+\.max_prompt$/, "data.prompt_max_len"],
  [/^tasks\.[^.]+\.prompt$/, "data.input_key", "data.prompt_dataset"],
  [/^tasks\.[^.]+\.answer$/, "data.label_key", "data.prompt_dataset"],
  [/^tasks/, "data.prompt_dataset"],
  [/^rollout\.prompts$/, "rollout.batch_size"],
  [/^rollout\.group$/, "rollout.n_samples_per_prompt"],
  [/^rollout\.max_tokens$/, "rollout.max_new_tokens", "data.max_len"],
  [/^rollout\.temperature$/, "rollout.temperature"],
  [/^reward/, "reward.remote_url"],
  [/^advantage/, "algo.advantage.estimator"],
  [/^objective/, "actor.policy_loss_type"],
  [/^kl/, "algo.kl.init_coef"],
  [/^update\.optimizer\.lr$/, "actor.adam.lr"],
  [/^update\.mini_batch$/, "train.batch_size"],
  [/^update\.epochs$/, "train.max_epochs"],
  [/^curriculum/, "algo.dynamic_filtering_enable"],
];
