/** The settings that decide what a run is, where the file leaves them to the framework's defaults. */
import type { Settings, Unmapped } from "./settings.ts";
import type { ConvertedFrom } from "./types.ts";

/** Model, data, batch, group and lengths. */
const deciding: Readonly<Record<ConvertedFrom, readonly string[]>> = {
  verl: [
    "actor_rollout_ref.model.path",
    "data.train_files",
    "data.train_batch_size",
    "actor_rollout_ref.rollout.n",
    "data.max_prompt_length",
    "data.max_response_length",
  ],
  trl: ["per_device_train_batch_size", "num_generations", "max_completion_length"],
  openrlhf: ["rollout.batch_size", "rollout.n_samples_per_prompt", "train.batch_size", "data.max_len"],
  skyrl: [
    "trainer.policy.model.path",
    "data.train_data",
    "trainer.train_batch_size",
    "generator.n_samples_per_prompt",
    "trainer.max_prompt_length",
    "generator.sampling_params.max_generate_length",
  ],
  "prime-rl": ["model.name", "orchestrator.batch_size", "orchestrator.group_size"],
};

export const decidedByDefault = (
  framework: ConvertedFrom,
  settings: Settings,
  release: string,
): readonly Unmapped[] =>
  deciding[framework]
    .filter((key) => settings.isDefault(key))
    .map((key) => ({ key, value: settings.peek(key) ?? null, reason: `the default of ${release}` }));
