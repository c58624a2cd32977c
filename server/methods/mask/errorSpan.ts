import { z } from "zod";
import { mask } from "../../core/declaration.ts";
import { bySpans } from "./rows.ts";

export const errorSpan = mask({
  name: "error_span",
  summary:
    "In a program that failed, only the code that its error points at trains. It reads the rollout's spans `error`; a rollout without them trains as a whole.",
  formula: "mask_t = [token t is in the span of the error]",
  sources: ["RLTF: Reinforcement Learning from Unit Test Feedback"],
  params: z.object({}),
  create: () => bySpans(({ records }, row) => records[row]!.spans?.["error"], "inside"),
});
