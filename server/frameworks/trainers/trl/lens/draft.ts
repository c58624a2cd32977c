/** TRL's settings as they are found. */
import { SettingsDraft } from "../../../lens/exportDraft.ts";
import { keysOf } from "../../../lens/engineKeys.ts";

export { nameOf, type Chosen } from "../../../lens/exportDraft.ts";

const always: ReadonlySet<string> = new Set([
  "learning_rate",
  "loss_type",
  "lr_scheduler_type",
  "max_completion_length",
  "max_steps",
  "num_generations",
  "per_device_train_batch_size",
  "gradient_accumulation_steps",
  "steps_per_generation",
  "scale_rewards",
]);

export class TrlDraft extends SettingsDraft {
  constructor() {
    super("trl", keysOf("trl", "grpo"), always);
  }
}
