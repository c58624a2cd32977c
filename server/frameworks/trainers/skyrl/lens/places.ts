import type { SettingsOfPaths } from "../../../lens/types.ts";

/** Which settings wrote a value of the converted config. */
export const skyrlPlaces: SettingsOfPaths = [
  [/^name$/, "trainer.run_name"],
  [/^seed$/, "trainer.seed"],
  [/^steps$/, "trainer.max_training_steps"],
  [/^model\.adapter/, "trainer.policy.model.lora.rank"],
  [/^model/, "trainer.policy.model.path"],
  [/^models\.critic/, "trainer.critic.model.path"],
  [/^tasks\.[^.]+\.max_prompt$/, "trainer.max_prompt_length"],
  [/^tasks/, "data.train_data"],
  [/^rollout\.prompts$/, "trainer.train_batch_size"],
  [/^rollout\.group$/, "generator.n_samples_per_prompt"],
  [/^rollout\.max_tokens$/, "generator.sampling_params.max_generate_length"],
  [/^rollout\.temperature$/, "generator.sampling_params.temperature"],
  [/^reward/, "environment.env_class"],
  [/^advantage/, "trainer.algorithm.advantage_estimator"],
  [/^objective\.aggregate/, "trainer.algorithm.loss_reduction"],
  [/^objective/, "trainer.algorithm.policy_loss_type"],
  [/^kl/, "trainer.algorithm.kl_loss_coef", "trainer.algorithm.use_kl_loss"],
  [/^update\.optimizer/, "trainer.policy.optimizer_config.lr"],
  [/^update\.mini_batch$/, "trainer.policy_mini_batch_size"],
  [/^update\.epochs$/, "trainer.update_epochs_per_batch"],
  [/^evaluation/, "trainer.eval_interval"],
  [/^checkpoint/, "trainer.ckpt_interval"],
];
