import { z } from "zod";

/** Parameters of estimators that try arms with rollouts of their own. */
export const tries = {
  samples: z.number().int().positive().default(8).describe("Rollouts of each arm."),
  temperature: z
    .number()
    .min(0)
    .optional()
    .describe("Of these rollouts; 0: greedy, of which one is enough. Default: the run's own."),
  at_once: z.number().int().positive().default(256).describe("Arms that are tried together."),
};
