import { z } from "zod";
import { branching } from "../../../core/declaration.ts";

export const none = branching({
  name: "none",
  summary: "Every rollout of a group starts from its task's prompt.",
  sources: [],
  params: z.object({}),
  create: () => ({ children: 0, budget: "whole", leave: () => undefined }),
});
