/** SkyRL's settings as they are found, by their dotted keys. */
import { SettingsDraft } from "../../../lens/exportDraft.ts";
import { flatKeys } from "../../../lens/engineKeys.ts";
import { algorithm, policy, sampling } from "./keys.ts";

const always: ReadonlySet<string> = new Set([
  "data.train_data",
  "data.val_data",
  "trainer.train_batch_size",
  "trainer.policy_mini_batch_size",
  "trainer.update_epochs_per_batch",
  "trainer.max_training_steps",
  "trainer.max_prompt_length",
  "trainer.placement.policy_num_nodes",
  "trainer.placement.policy_num_gpus_per_node",
  `${algorithm}.advantage_estimator`,
  `${algorithm}.policy_loss_type`,
  `${algorithm}.loss_reduction`,
  `${algorithm}.use_kl_loss`,
  `${policy}.optimizer_config.lr`,
  `${sampling}.max_generate_length`,
  `${sampling}.temperature`,
  "generator.n_samples_per_prompt",
]);

export class SkyrlDraft extends SettingsDraft {
  constructor() {
    super("skyrl", flatKeys("skyrl"), always);
  }
}
