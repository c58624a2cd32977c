import { z } from "zod";
import { rolloutSources } from "../../../shared/rollouts/fields.ts";
import { mask, param } from "../../core/declaration.ts";
import { ofRows } from "./rows.ts";

export const sources = mask({
  name: "sources",
  summary:
    "Only rollouts from these sources train: the policy's own, guided ones, a teacher's, a file's, replayed ones.",
  sources: [],
  params: z.object({ keep: param(z.array(z.enum(rolloutSources)).min(1), "Sources that train.") }),
  create: ({ keep }) => ofRows(({ records }, row) => keep.includes(records[row]!.source)),
});
