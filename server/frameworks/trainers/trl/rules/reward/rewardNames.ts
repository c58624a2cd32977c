import { rewardsOf } from "../../rewards.ts";
import { rewarded } from "../../../../releases/programs/trl.ts";
import { trlRule } from "../../trlRule.ts";

export const rewardNames = trlRule({
  id: "trl-reward-names",
  trees: rewarded,
  severity: "warning",
  title: "Duplicate reward name",
  why: "TRL names a reward's metrics and its column among the logged completions by the function's own name, without its module: `GRPOTrainer.__init__` and `_generate_and_score_completions` in trl/trainer/grpo_trainer.py. Two rewards of one name both count, and are logged as one.",
  check(model) {
    const { at, rewards } = rewardsOf(model) ?? { at: undefined, rewards: [] };
    const names = rewards.flatMap(({ name }) => name ?? []);
    const twice = [...new Set(names.filter((name, i) => names.indexOf(name) < i))];
    return twice.map((name) => ({
      at,
      message: `Two rewards are named \`${name}\`: both count, but TRL logs their metrics \`rewards/${name}/mean\` as one.`,
    }));
  },
});
