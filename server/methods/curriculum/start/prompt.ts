import { z } from "zod";
import { start } from "../../../core/declaration.ts";

export const prompt = start({
  name: "prompt",
  summary: "Rollouts start after the task's prompt.",
  sources: [],
  params: z.object({}),
  create: () => ({ begin: (drawn) => Promise.resolve(drawn) }),
});
