import { z } from "zod";
import { replaySource } from "../../core/declaration.ts";

export const noReplay = replaySource({
  name: "none",
  summary: "Keeps nothing: every step trains on its own rollouts.",
  sources: [],
  params: z.object({}),
  create: () => ({ kind: "none" }),
});
