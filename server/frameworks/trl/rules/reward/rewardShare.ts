import type { ForeignRule } from "../../../rule.ts";
import { rewardsOf } from "../../rewards.ts";

/** What TRL's own functions pay between their worst and their best: trl/rewards. */
const ranges: Readonly<Record<string, { readonly range: number; readonly correctness: boolean }>> = {
  accuracy_reward: { range: 1, correctness: true },
  reasoning_accuracy_reward: { range: 1, correctness: true },
  think_format_reward: { range: 1, correctness: false },
  get_soft_overlong_punishment: { range: 1, correctness: false },
};

export const rewardShare: ForeignRule = {
  id: "trl-reward-share",
  framework: "trl",
  severity: "warning",
  title: "Form pays more than a right answer",
  why: "Of TRL's own rewards (trl/rewards) `accuracy_reward` pays 0 or 1, `think_format_reward` 0 or 1, and `get_soft_overlong_punishment` −1 to 0. Where `reward_weights` let form or length weigh more than correctness, a policy earns more by the form of a wrong answer than by a right one.",
  check(model) {
    const { at, rewards } = rewardsOf(model) ?? { at: undefined, rewards: [] };
    const weights = model.value("reward_weights");
    if (!Array.isArray(weights) || weights.length !== rewards.length) return [];
    const shares = rewards.flatMap(({ written, name = written }, i) => {
      const known = Object.hasOwn(ranges, name) ? ranges[name] : undefined;
      return known === undefined
        ? []
        : [{ name, pays: known.range * Math.abs(Number(weights[i])), correctness: known.correctness }];
    });
    const right = Math.max(...shares.filter(({ correctness }) => correctness).map(({ pays }) => pays));
    const written = model.written("reward_weights");
    return shares
      .filter(({ correctness, pays }) => !correctness && Number.isFinite(right) && pays > right)
      .map(({ name, pays }) => ({
        at: written ?? at,
        message: `\`${name}\` moves the reward by up to ${pays}, and a right answer by ${right}: form pays more than correctness.`,
      }));
  },
};
