import { z } from "zod";
import { guidanceRatio } from "../../../core/declaration.ts";

export const recomputed = guidanceRatio({
  name: "recomputed",
  summary:
    "The ratio is against the old policy in the training context, as if it had generated the rollout there.",
  formula: "ρ = π(o | x) / π_old(o | x)",
  sources: [
    "Learning Like Humans: Advancing LLM Reasoning Capabilities via Adaptive Difficulty Curriculum Learning and Expert-Guided Self-Reformulation",
  ],
  status: "approximate",
  params: z.object({}),
  create: () => ({ proximal: "always", denominator: ({ proximal }) => proximal }),
});
