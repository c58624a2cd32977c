import { z } from "zod";
import { replayAdmission, param } from "../../../core/declaration.ts";

export const keepReward = replayAdmission({
  name: "reward",
  summary: "Keeps rollouts whose combined reward is above a bound.",
  formula: "keep i ⇔ R_i > above",
  sources: ["Reinforced Self-Training (ReST) for Language Modeling"],
  params: z.object({ above: param(z.number(), "The bound τ.") }),
  create:
    ({ above }) =>
    ({ reward }) =>
      reward > above,
});
