/** Sections of SkyRL's config. */
export const algorithm = "trainer.algorithm";
export const correction = `${algorithm}.off_policy_correction`;
export const policy = "trainer.policy";
export const critic = "trainer.critic";
export const sampling = "generator.sampling_params";
export const evaluation = "generator.eval_sampling_params";
export const engine = "generator.inference_engine";

/** Of what is counted. */
export const batchKeys = {
  prompts: "trainer.train_batch_size",
  group: "generator.n_samples_per_prompt",
  mini: "trainer.policy_mini_batch_size",
  epochs: "trainer.update_epochs_per_batch",
  steps: "trainer.max_training_steps",
} as const;
