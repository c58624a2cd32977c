import { z } from "zod";
import { UserError } from "../../shared/errors.ts";
import { baseline } from "../config/declaration.ts";

export const greedy = baseline({
  name: "greedy",
  aliases: ["remax"],
  summary:
    "Reward minus that of the policy's greedy response to the same task, which a run writes and pays beside each group (`reward_baseline` of recorded rollouts). Terms that learn beside the policy are not part of it.",
  formula: "A = r(y) − r(y_greedy)",
  sources: [
    "ReMax: A Simple, Effective, and Efficient Reinforcement Learning Method for Aligning Large Language Models",
  ],
  params: z.object({}),
  create: () => ({
    greedy: true,
    centre({ rewards, units, batch }) {
      const baselines = batch.rowColumns?.reward_baseline;
      return rewards.map((reward, unit) => {
        const row = units.row[unit]!;
        const value = baselines?.[row] ?? Number.NaN;
        if (!Number.isFinite(value) && !Number.isNaN(reward)) throw missing(batch.records[row]!);
        return reward - value;
      });
    },
  }),
});

const missing = ({ group, index }: { readonly group: string; readonly index: number }): UserError =>
  new UserError(`rollout ${index} of group ${group} has no reward of a greedy response to compare with`, {
    code: "reward-baseline",
    action: "Record reward_baseline with every rollout, or choose another advantage.baseline.",
  });
