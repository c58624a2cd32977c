import { switchTo } from "../../../../rules/fix.ts";
import { rewarded } from "../../../../releases/programs/trl.ts";
import { trlRule } from "../../trlRule.ts";

export const batchSearch = trlRule({
  id: "trl-batch-search",
  trees: rewarded,
  title: "Automatic batch size not allowed",
  why: "`auto_find_batch_size` halves the batch when memory runs out, and half a generation no longer holds whole groups: `GRPOConfig.__post_init__` (trl/trainer/grpo_config.py) refuses it since TRL 1.9.",
  check(model) {
    const at = model.written("auto_find_batch_size");
    if (at === undefined || model.flag("auto_find_batch_size") !== true || !model.since("1.9.0")) return [];
    const message =
      "TRL refuses `auto_find_batch_size`, because a smaller batch would no longer hold whole groups. Lower `per_device_train_batch_size` instead.";
    return [{ at, message, fixes: switchTo(model, at, false) }];
  },
});
