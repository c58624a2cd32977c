import { z } from "zod";
import { selection } from "../../../core/declaration.ts";

export const selectAll = selection({
  name: "all",
  summary: "Trains every admitted rollout.",
  sources: [],
  params: z.object({}),
  create: () => ({ over: "group", choose: (rows) => [...rows.keys()] }),
});
