import { z } from "zod";
import { replaySource } from "../../core/declaration.ts";

export const noReplay = replaySource({
  name: "none",
  summary: "Nothing is kept: every step trains on its own rollouts.",
  sources: [],
  params: z.object({}),
  create: () => ({ kind: "none" }),
});
