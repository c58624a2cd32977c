import { z } from "zod";
import { mask } from "../../core/declaration.ts";
import { origin } from "../../core/rollouts.ts";

export const written = mask({
  name: "written",
  summary: "Only generated tokens train.",
  sources: [],
  params: z.object({}),
  create: () => (batch) => batch.mask.map((kept, i) => (batch.origin[i] === origin.written ? kept : 0)),
});
