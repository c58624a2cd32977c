import { z } from "zod";
import { signal } from "../../../core/declaration.ts";
import { byRollout } from "./measured.ts";

export const meanReward = signal({
  name: "reward",
  summary: "The group's rewards.",
  formula: "s = mean_i r_i",
  sources: ["Prompt Curriculum Learning for Efficient LLM Post-Training"],
  gives: ["by_rollout"],
  params: z.object({}),
  create: () => byRollout(({ rewards }) => rewards),
});
