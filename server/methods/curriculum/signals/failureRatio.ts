import { z } from "zod";
import { signal } from "../../../core/declaration.ts";
import { outcomes } from "./measured.ts";

export const failureRatio = signal({
  name: "failure_ratio",
  summary: "How often an arm fails.",
  formula:
    "observed: successes; score 1 − p. A Boltzmann sampler over it is exp((0.5 − p)/τ), normalised: the 0.5 cancels",
  sources: [
    "Kimi k1.5: Scaling Reinforcement Learning with LLMs",
    "VLA-RL: Towards Masterful and General Robotic Manipulation with Scalable Reinforcement Learning",
  ],
  gives: ["rate", "by_rollout"],
  params: z.object({}),
  create: () => ({ measure: outcomes, score: (p) => 1 - p }),
});
