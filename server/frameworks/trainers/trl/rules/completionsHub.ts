import { switchTo } from "../../../rules/fix.ts";
import { trlRule } from "../trlRule.ts";

export const completionsHub = trlRule({
  id: "trl-completions-hub",
  title: "Completions uploaded but not logged",
  why: "`log_completions_hub_repo` names the repository that receives the logged completions; without `log_completions` there are none, and `GRPOConfig.__post_init__` (trl/trainer/grpo_config.py) refuses it since TRL 0.28.",
  check(model) {
    const at = model.written("log_completions_hub_repo");
    const logs = model.flag("log_completions");
    if (at === undefined || at.value === null || logs !== false || !model.since("0.28.0")) return [];
    const message =
      "`log_completions_hub_repo` is set, but `log_completions` is false, and TRL refuses this: set `log_completions` to true, or remove the repository.";
    return [{ at, message, fixes: switchTo(model, model.written("log_completions"), true) }];
  },
});
