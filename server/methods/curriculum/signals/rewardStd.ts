import { z } from "zod";
import { signal, param } from "../../../core/declaration.ts";
import { deviation } from "../numbers.ts";
import { byGroup } from "./measured.ts";

export const rewardStd = signal({
  name: "reward_std",
  summary: "Standard deviation of the group's rewards.",
  formula: "s = √(Σ_i (r_i − r̄)²/n), or /(n − 1) with `sample: true`",
  sources: ["RLPR: Extrapolating RLVR to General Domains without Verifiers"],
  params: z.object({ sample: param(z.boolean().default(false), "Divide by n − 1 instead of n.") }),
  create: ({ sample }) => byGroup(({ rewards }) => deviation(rewards, sample ? 1 : 0)),
});
