import { z } from "zod";
import { combine } from "../../../core/declaration.ts";
import { oneOf } from "./applying.ts";

export const max = combine({
  name: "max",
  summary:
    "The greatest of the weighted terms that apply, such as a rule and a judge, of which either may find an answer right. Terms of weight 0 are left out.",
  formula: "r = max_k w_k r_k",
  sources: ["QwenLong-L1: Towards Long-Context Large Reasoning Models with Reinforcement Learning"],
  params: z.object({}),
  create: () => (rewards, batch) => oneOf("max", rewards, batch, (values) => Math.max(...values)),
});
