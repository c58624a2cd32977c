import { z } from "zod";
import { mask } from "../../core/declaration.ts";
import { ofRows } from "./rows.ts";

export const errors = mask({
  name: "errors",
  summary:
    "Rollouts whose environment failed (finish: error) do not train; their rewards still count for their groups.",
  sources: [],
  params: z.object({}),
  create: () => ofRows(({ records }, row) => records[row]!.finish !== "error"),
});
