import { z } from "zod";
import { episodeShape } from "../../../core/declaration.ts";

export const single = episodeShape({
  name: "single",
  summary: "A rollout is one response.",
  sources: [],
  params: z.object({}),
  create: () => ({ most: 1, budget: "attempt", judges: false, tries: () => 1, reply: () => undefined }),
});
