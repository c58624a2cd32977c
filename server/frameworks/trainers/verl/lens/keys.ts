/** Sections of verl's config. */
export const actor = "actor_rollout_ref.actor";
export const rollout = "actor_rollout_ref.rollout";
export const model = "actor_rollout_ref.model";
export const policyLoss = `${actor}.policy_loss`;
export const correction = "algorithm.rollout_correction";

/** A file of the project, whose folder launch.sh names. */
export const inProject = (name: string): string => `\${project}/${name}`;

/** Of what is counted. */
export const batchKeys = {
  prompts: "data.train_batch_size",
  group: `${rollout}.n`,
  mini: `${actor}.ppo_mini_batch_size`,
  epochs: `${actor}.ppo_epochs`,
  steps: "trainer.total_training_steps",
} as const;
