import { z } from "zod";
import { replayAdmission } from "../../../core/declaration.ts";

export const keepAll = replayAdmission({
  name: "all",
  summary: "Every admitted rollout is kept.",
  sources: [],
  params: z.object({}),
  create: () => () => true,
});
