import { scoredOutside } from "../cluster.ts";
import { openrlhfRule } from "../openrlhfRule.ts";

export const noReward = openrlhfRule({
  id: "openrlhf-no-reward",
  title: "No reward",
  why: "Rewards come from `reward.model_name_or_path`, from `reward.remote_url` (servers, or one Python file) or from an agent. Without any, `gae` fails at once, because its critic starts from the reward model (openrlhf/cli/train_ppo_ray.py); the other estimators fail when the first samples are scored (`RemoteExperienceMaker.make_experience` in openrlhf/trainer/ppo_utils/experience_maker.py).",
  check(flags) {
    if (!flags.isRun || scoredOutside(flags) !== false || !flags.lacks("reward.model_name_or_path"))
      return [];
    const names = ["reward.remote_url", "reward.model_name_or_path", "train.agent_func_path"].map(
      (name) => `\`${flags.name(name)}\``,
    );
    const message = `There is no reward: set ${names.slice(0, 2).join(", ")} or ${names[2]}.`;
    return [{ at: undefined, message }];
  },
});
