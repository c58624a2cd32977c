import { z } from "zod";
import { mask } from "../../core/declaration.ts";
import { bySpans } from "./rows.ts";

export const executedLines = mask({
  name: "executed_lines",
  aliases: ["fgo"],
  summary:
    "In a program, only the lines that its tests executed train. It reads the rollout's spans `executed`; a rollout without them (nothing ran) trains as a whole.",
  formula: "mask_t = [token t is in an executed line]",
  sources: ["StepCoder: Improve Code Generation with Reinforcement Learning from Compiler Feedback"],
  params: z.object({}),
  create: () => bySpans(({ records }, row) => records[row]!.spans?.["executed"], "inside"),
});
