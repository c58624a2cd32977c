import { z } from "zod";
import { guidanceRatio } from "../../../core/declaration.ts";

export const trueBehaviour = guidanceRatio({
  name: "true_behaviour",
  summary:
    "The ratio is against whoever wrote the tokens, in the context in which they were written: with the help there, whether or not it is there in training.",
  formula: "ρ = π(o_t | x, o_<t) / π_old(o_t | x, help, o_<t)",
  sources: ["Adaptive Guidance Accelerates Reinforcement Learning of Reasoning Models"],
  params: z.object({}),
  create: () => ({ proximal: "never", denominator: ({ behaviour }) => behaviour }),
});
