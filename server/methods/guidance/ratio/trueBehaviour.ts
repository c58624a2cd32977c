import { z } from "zod";
import { guidanceRatio } from "../../../core/declaration.ts";

export const trueBehaviour = guidanceRatio({
  name: "true_behaviour",
  summary:
    "The ratio is against the model that generated the tokens, in the context it generated them in: with the help, whether or not training shows it.",
  formula: "ρ = π(o_t | x, o_<t) / π_old(o_t | x, help, o_<t)",
  sources: ["Adaptive Guidance Accelerates Reinforcement Learning of Reasoning Models"],
  params: z.object({}),
  create: () => ({ proximal: "never", denominator: ({ behaviour }) => behaviour }),
});
