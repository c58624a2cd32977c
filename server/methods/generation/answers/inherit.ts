import { z } from "zod";
import { taskAnswer } from "../../../core/declaration.ts";

export const inherit = taskAnswer({
  name: "inherit",
  summary: "The parent's answer, data and solution: for transforms that keep the answer.",
  sources: ["CLPO: Curriculum Learning meets Policy Optimization for LLM Reasoning"],
  params: z.object({}),
  create: () => ({ kind: "inherit" }),
});
