/** OpenRLHF's flags as they are found, by their dotted names. */
import { SettingsDraft } from "../../../lens/exportDraft.ts";
import { keysOf } from "../../../lens/engineKeys.ts";

const always: ReadonlySet<string> = new Set([
  "actor.adam.lr",
  "actor.eps_clip_low_high",
  "actor.loss_agg_mode",
  "actor.lr_scheduler",
  "algo.advantage.estimator",
  "algo.kl.init_coef",
  "data.max_len",
  "data.max_samples",
  "rollout.batch_size",
  "rollout.max_new_tokens",
  "rollout.n_samples_per_prompt",
  "rollout.temperature",
  "train.batch_size",
  "train.max_epochs",
  "train.num_episodes",
  "train.seed",
]);

export class OpenRlhfDraft extends SettingsDraft {
  constructor() {
    super("openrlhf", keysOf("openrlhf", "train_ppo_ray"), always);
  }
}
