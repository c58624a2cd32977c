/** What several requests ask with. */
import { z } from "zod";
import { runIdSchema } from "../run/runId.ts";

export const run = z.object({ run: runIdSchema });

/** What a question about a part of a run's steps may say: one step, or a first and a last. */
export const stepRange = {
  step: z.number().int().optional(),
  from: z.number().int().optional(),
  to: z.number().int().optional(),
};
