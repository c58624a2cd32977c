import { z } from "zod";
import { admission } from "../../../core/declaration.ts";
import type { Group } from "../../../core/rollouts.ts";
import { unscored, yes } from "./verdicts.ts";

const imbalance = ({ successes, rewards }: Group): number => Math.abs(successes / rewards.length - 0.5);

export const balanced = admission({
  name: "balanced",
  summary:
    "Where there are more groups than the step wants, trains on those whose successes and failures are nearest to even.",
  formula: "the `rollout.prompts` groups of least |p̂ − ½|. `budget: oversample` draws more of them",
  sources: ["GLM-4.1V-Thinking: Towards Versatile Multimodal Reasoning with Scalable Reinforcement Learning"],
  params: z.object({}),
  create: () => ({
    admit: ({ rewards }) => (rewards.length === 0 ? unscored : yes),
    prefer: (groups) =>
      [...groups.keys()].sort((a, b) => imbalance(groups[a]!) - imbalance(groups[b]!) || a - b),
  }),
});
