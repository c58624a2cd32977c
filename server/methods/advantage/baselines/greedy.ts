import { z } from "zod";
import { UserError } from "../../../../shared/lib/errors.ts";
import { baseline } from "../../../core/declaration.ts";

export const greedy = baseline({
  name: "greedy",
  aliases: ["remax"],
  summary:
    "Reward minus the reward of the policy's greedy response to the same task. A run generates and scores that response with each group; recorded rollouts have its reward as `reward_baseline`. A rollout without one has no advantage. Reward terms that learn during the run are left out of it.",
  formula: "A = r(y) − r(y_greedy); below response level with `returns: after`, γ^{T−t} (r(y) − r(y_greedy))",
  sources: [
    "ReMax: A Simple, Effective, and Efficient Reinforcement Learning Method for Aligning Large Language Models",
  ],
  params: z.object({}),
  create: () => ({
    greedy: true,
    centre({ rewards, units, batch, summed }) {
      const baselines = batch.rowColumns?.reward_baseline;
      if (baselines === undefined) throw missing();
      return rewards.map((reward, unit) => {
        const row = units.row[unit]!;
        const value = baselines[row]!;
        if (!Number.isFinite(value)) return Number.NaN;
        // It is earned where the response's own reward is: by the last unit.
        return summed === true && unit + 1 < units.offsets[row + 1]! ? reward : reward - value;
      });
    },
  }),
});

const missing = (): UserError =>
  new UserError(
    "advantage.baseline: greedy compares with the reward of a greedy response, and no rollout records one",
    {
      code: "reward-baseline",
      action: "Record reward_baseline with every rollout, or choose another advantage.baseline.",
    },
  );
