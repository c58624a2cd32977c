import { z } from "zod";
import { replayAdmission } from "../../../core/declaration.ts";

export const keepAll = replayAdmission({
  name: "all",
  summary: "Keeps every admitted rollout.",
  sources: [],
  params: z.object({}),
  create: () => () => true,
});
