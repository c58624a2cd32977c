import { z } from "zod";
import { guidanceTrigger } from "../../../core/declaration.ts";

export const none = guidanceTrigger({
  name: "none",
  summary: "No rollout is helped.",
  sources: [],
  params: z.object({}),
  create: () => ({ looks: "before", members: () => [] }),
});
