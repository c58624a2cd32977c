import { z } from "zod";
import { guidanceTrigger, param } from "../../../core/declaration.ts";

export const allFail = guidanceTrigger({
  name: "all_fail",
  summary: "Helps groups in which every rollout failed.",
  sources: [
    "GHPO: Adaptive Guidance for Stable and Efficient LLM Reinforcement Learning",
    "Adaptive Guidance Accelerates Reinforcement Learning of Reasoning Models",
    "More Than One Teacher: Adaptive Multi-Guidance Policy Optimization for Diverse Exploration",
  ],
  params: z.object({
    after_step: param(
      z.number().int().min(0).default(0),
      "Steps of the run before the first help (GHPO delays its hints).",
    ),
  }),
  create: ({ after_step }) => ({
    looks: "after",
    members: ({ size, success }, { clock }) =>
      clock.step >= after_step && success !== undefined && success.every((one) => one === 0)
        ? Array.from({ length: size }, (_, i) => i)
        : [],
  }),
});
