/** Sections of SkyRL's config. */
export const algorithm = "trainer.algorithm";
export const correction = `${algorithm}.off_policy_correction`;
export const policy = "trainer.policy";
export const critic = "trainer.critic";
export const sampling = "generator.sampling_params";
export const evaluation = "generator.eval_sampling_params";
export const engine = "generator.inference_engine";
