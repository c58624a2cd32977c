import { z } from "zod";
import { sampler } from "../../../core/declaration.ts";
import { independent } from "../fast/independent.ts";

export const mixture = sampler({
  name: "mixture",
  summary: "Draws each arm with the share that the estimator gives it.",
  formula: "p(a) = Q(a), with Q a mixture of arms",
  sources: ["MoDoMoDo: Multi-Domain Data Mixtures for Multimodal LLM Reinforcement Learning"],
  takes: ["mixtures"],
  params: z.object({}),
  create: () =>
    independent(["estimate"], ({ estimates }) =>
      estimates.map((share) => (Number.isNaN(share) ? 0 : Math.max(0, share))),
    ),
});
