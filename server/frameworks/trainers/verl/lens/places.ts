import type { SettingsOfPaths } from "../../../lens/types.ts";

const actor = "actor_rollout_ref.actor";
const rollout = "actor_rollout_ref.rollout";

/** Which settings wrote a value of the converted config. */
export const verlPlaces: SettingsOfPaths = [
  [/^name$/, "trainer.experiment_name"],
  [/^seed$/, "data.seed"],
  [/^steps$/, "trainer.total_training_steps"],
  [/^model\.adapter/, "actor_rollout_ref.model.lora_rank"],
  [/^model/, "actor_rollout_ref.model.path"],
  [/^models\.critic/, "critic.model.path"],
  [/^tasks\.[^.]+\.max_prompt$/, "data.max_prompt_length"],
  [/^tasks\.[^.]+\.overlong$/, "data.filter_overlong_prompts", "data.truncation"],
  [/^tasks\.[^.]+\.prompt$/, "data.prompt_key", "data.train_files"],
  [/^tasks/, "data.train_files"],
  [/^rollout\.prompts$/, "data.train_batch_size"],
  [/^rollout\.group$/, `${rollout}.n`],
  [/^rollout\.max_tokens$/, `${rollout}.response_length`, "data.max_response_length"],
  [/^rollout\.temperature$/, `${rollout}.temperature`],
  [/^rollout\.top_p$/, `${rollout}.top_p`],
  [/^rollout\.top_k$/, `${rollout}.top_k`],
  [/^reward/, "reward.custom_reward_function.path", "custom_reward_function.path"],
  [/^advantage/, "algorithm.adv_estimator"],
  [/^objective\.low$/, `${actor}.clip_ratio_low`, `${actor}.clip_ratio`],
  [/^objective\.high$/, `${actor}.clip_ratio_high`, `${actor}.clip_ratio`],
  [/^objective\.dual$/, `${actor}.clip_ratio_c`],
  [/^objective\.aggregate/, `${actor}.loss_agg_mode`],
  [/^objective\.entropy/, `${actor}.entropy_coeff`],
  [/^objective/, `${actor}.policy_loss.loss_mode`],
  [/^kl.*coefficient$/, `${actor}.kl_loss_coef`, "algorithm.kl_ctrl.kl_coef"],
  [/^kl/, `${actor}.use_kl_loss`, "algorithm.use_kl_in_reward"],
  [/^update\.optimizer\.lr$/, `${actor}.optim.lr`],
  [/^update\.optimizer\.weight_decay$/, `${actor}.optim.weight_decay`],
  [/^update\.optimizer\.warmup$/, `${actor}.optim.lr_warmup_steps`, `${actor}.optim.lr_warmup_steps_ratio`],
  [/^update\.mini_batch$/, `${actor}.ppo_mini_batch_size`],
  [/^update\.epochs$/, `${actor}.ppo_epochs`],
  [/^evaluation/, "trainer.test_freq"],
  [/^checkpoint/, "trainer.save_freq"],
  [/^curriculum/, "algorithm.filter_groups.enable"],
];
