import { z } from "zod";
import { signal } from "../../../core/declaration.ts";
import { byRollout } from "./measured.ts";

export const meanAbsAdvantage = signal({
  name: "mean_abs_advantage",
  summary: "Mean absolute advantage of the group's rollouts: how much it would move the policy.",
  formula: "s = mean_i |A_i|; with group-std advantages of binary rewards, 2√(p(1−p)) up to n/(n−1)",
  sources: ["Self-Evolving Curriculum for LLM Reasoning"],
  gives: ["by_rollout"],
  params: z.object({}),
  create: () => byRollout(({ advantages }) => advantages.map(Math.abs)),
});
