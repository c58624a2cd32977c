import { z } from "zod";
import { budget } from "../../../core/declaration.ts";

export const fixedBudget = budget({
  name: "fixed",
  summary: "`rollout.group` rollouts for each of `rollout.prompts` tasks.",
  sources: [],
  params: z.object({}),
  create: () => ({}),
});
