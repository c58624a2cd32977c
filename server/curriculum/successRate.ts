import { z } from "zod";
import { signal } from "../config/declaration.ts";
import { perGroup } from "./perGroup.ts";

export const successRate = signal({
  name: "success_rate",
  summary: "Share of the group's rollouts that succeed.",
  formula: "s = successes / rollouts",
  sources: ["Online Difficulty Filtering for Reasoning Oriented Reinforcement Learning"],
  params: z.object({}),
  create: () =>
    perGroup(({ rewards, successes }) => (rewards.length === 0 ? Number.NaN : successes / rewards.length)),
});
