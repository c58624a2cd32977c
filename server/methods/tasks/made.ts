import { z } from "zod";
import { UserError } from "../../../shared/lib/errors.ts";
import { taskSource } from "../../core/declaration.ts";

/** Chosen by the key `generate`; opened with the sources that it makes tasks of (`generation/open.ts`). */
export const made = taskSource({
  name: "generated",
  summary: "Tasks that the run makes from other tasks. Chosen by the key `generate`.",
  sources: ["CLPO: Curriculum Learning meets Policy Optimization for LLM Reasoning"],
  params: z.object({}),
  create: () => {
    throw new UserError("`env: generated` does not say how tasks are made.", {
      code: "generate",
      action: "Write `generate:` with its selector, transform and author instead of `env`.",
    });
  },
});
