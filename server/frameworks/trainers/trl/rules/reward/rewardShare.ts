import { rewardsOf } from "../../rewards.ts";
import { trlRule } from "../../trlRule.ts";

/** The range of the rewards of TRL's own functions: trl/rewards. */
const ranges: Readonly<Record<string, { readonly range: number; readonly correctness: boolean }>> = {
  accuracy_reward: { range: 1, correctness: true },
  reasoning_accuracy_reward: { range: 1, correctness: true },
  think_format_reward: { range: 1, correctness: false },
  get_soft_overlong_punishment: { range: 1, correctness: false },
};

export const rewardShare = trlRule({
  id: "trl-reward-share",
  severity: "warning",
  title: "Format outweighs correctness",
  why: "Of TRL's own rewards (trl/rewards) `accuracy_reward` is 0 or 1, `think_format_reward` 0 or 1, and `get_soft_overlong_punishment` −1 to 0. If `reward_weights` give format or length more weight than correctness, a wrong answer in the right format earns more than a right answer.",
  check(model) {
    const { at, rewards } = rewardsOf(model) ?? { at: undefined, rewards: [] };
    const weights = model.value("reward_weights");
    if (!Array.isArray(weights) || weights.length !== rewards.length) return [];
    const shares = rewards.flatMap(({ written, name = written }, i) => {
      const known = Object.hasOwn(ranges, name) ? ranges[name] : undefined;
      return known === undefined
        ? []
        : [{ name, spread: known.range * Math.abs(Number(weights[i])), correctness: known.correctness }];
    });
    const right = Math.max(...shares.filter(({ correctness }) => correctness).map(({ spread }) => spread));
    const written = model.written("reward_weights");
    return shares
      .filter(({ correctness, spread }) => !correctness && Number.isFinite(right) && spread > right)
      .map(({ name, spread }) => ({
        at: written ?? at,
        message: `\`${name}\` changes the reward by up to ${spread}, and a right answer by ${right}: format outweighs correctness.`,
      }));
  },
});
