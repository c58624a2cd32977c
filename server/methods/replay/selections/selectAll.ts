import { z } from "zod";
import { selection } from "../../../core/declaration.ts";

export const selectAll = selection({
  name: "all",
  summary: "Every admitted rollout trains.",
  sources: [],
  params: z.object({}),
  create: () => ({ over: "group", choose: (rows) => [...rows.keys()] }),
});
