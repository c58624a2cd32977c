import { z } from "zod";
import { signal } from "../../../core/declaration.ts";
import { largest, least } from "../numbers.ts";
import { byGroup } from "./measured.ts";

export const rewardRange = signal({
  name: "reward_range",
  summary: "How far the best rollout of a group is from its worst.",
  formula: "s = max_i r_i − min_i r_i",
  sources: [
    "Scalable Reinforcement Post-Training Beyond Static Human Prompts: Evolving Alignment via Asymmetric Self-Play",
  ],
  params: z.object({}),
  create: () => byGroup(({ rewards }) => largest(rewards) - least(rewards)),
});
