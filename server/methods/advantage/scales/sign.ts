import { z } from "zod";
import { scale } from "../../../core/declaration.ts";

export const sign = scale({
  name: "sign",
  summary: "Only whether the reward was above or below the baseline counts: +1, −1 or 0.",
  formula: "A_i ← sign(A_i)",
  sources: ["The Surprising Effectiveness of Negative Reinforcement in LLM Reasoning"],
  divides: "group",
  params: z.object({}),
  create: () => (centred) => centred.map((value) => Math.sign(value)),
});
