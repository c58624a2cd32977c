import { z } from "zod";
import { replayAdmission } from "../../../core/declaration.ts";

export const keepReward = replayAdmission({
  name: "reward",
  summary: "Keeps rollouts whose combined reward is above a bound.",
  formula: "keep i ⇔ R_i > above",
  sources: ["Reinforced Self-Training (ReST) for Language Modeling"],
  params: z.object({ above: z.number().describe("The bound τ.") }),
  create:
    ({ above }) =>
    ({ reward }) =>
      reward > above,
});
