import { z } from "zod";
import { rewardTerm, param } from "../../core/declaration.ts";
import type { TermValue } from "../../core/slots/reward.ts";
import type { RolloutRecord } from "../../core/rollouts.ts";
import { none, perRow, value } from "./perRow.ts";

/** What each turn was given, those of the other side NaN; a turn of the policy without a reward has 0. */
const byTurn = ({ turns = [] }: RolloutRecord): number[] =>
  turns.map(({ role, reward = 0 }) => (role === "assistant" ? reward : Number.NaN));

const total = (rewards: readonly number[]): number =>
  rewards.reduce((sum, reward) => sum + (Number.isNaN(reward) ? 0 : reward), 0);

/** What earlier rows of the episode were given counts with the first turn of this one. */
function withEarlier(rewards: readonly number[], earlier = 0): readonly number[] {
  const first = rewards.findIndex((reward) => !Number.isNaN(reward));
  return earlier === 0 ? rewards : rewards.map((reward, i) => (i === first ? reward + earlier : reward));
}

export const environment = rewardTerm({
  name: "environment",
  summary: "What the task's environment gave as a reward: of each turn, or of the whole episode.",
  formula: "turn: r_k · response: Σ_k r_k",
  sources: [],
  judges: "answer",
  computes: () => true,
  params: z.object({
    level: param(
      z.enum(["response", "turn"]).default("response"),
      "One reward an episode, the sum, or one a turn: for `advantage: { level: turn }` and discounts.",
    ),
  }),
  create: ({ level }) => ({
    ...perRow((record): TermValue => {
      if (record.played?.environment !== true) return none;
      const rewards = withEarlier(byTurn(record), record.played.earlier);
      const { components } = record.played;
      const earned: TermValue =
        level === "turn" ? { kind: "values", level, values: rewards } : value(total(rewards));
      return Object.keys(components).length === 0 ? earned : { ...earned, components };
    }),
    whole: true,
  }),
});
