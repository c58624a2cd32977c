import { z } from "zod";
import { branching } from "../../../core/declaration.ts";

export const none = branching({
  name: "none",
  summary: "Every rollout of a group begins where its task does.",
  sources: [],
  params: z.object({}),
  create: () => ({ children: 0, budget: "whole", leave: () => undefined }),
});
