import { z } from "zod";
import { signal } from "../../../core/declaration.ts";
import { byRollout, outcomes } from "./measured.ts";

export const successRate = signal({
  name: "success_rate",
  summary: "Share of the group's rollouts that succeed.",
  formula: "s = successes / rollouts",
  sources: ["Online Difficulty Filtering for Reasoning Oriented Reinforcement Learning"],
  gives: ["rate", "by_rollout"],
  params: z.object({}),
  create: () => byRollout(outcomes),
});
