/** verl's settings as they are found, by their dotted keys. */
import { SettingsDraft } from "../../../lens/exportDraft.ts";
import { keysOf } from "../../../lens/engineKeys.ts";
import { actor, policyLoss, rollout } from "./keys.ts";

const always: ReadonlySet<string> = new Set([
  "algorithm.adv_estimator",
  "data.train_files",
  "data.val_files",
  "data.train_batch_size",
  "data.max_prompt_length",
  "data.max_response_length",
  `${actor}.ppo_mini_batch_size`,
  `${actor}.ppo_epochs`,
  `${actor}.loss_agg_mode`,
  `${actor}.use_kl_loss`,
  `${actor}.optim.lr`,
  `${policyLoss}.loss_mode`,
  `${rollout}.n`,
  `${rollout}.temperature`,
  "trainer.total_training_steps",
  "trainer.n_gpus_per_node",
  "trainer.nnodes",
]);

export class VerlDraft extends SettingsDraft {
  constructor() {
    super("verl", keysOf("verl", "ppo_trainer"), always);
  }
}
