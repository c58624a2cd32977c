/** What shapes of several attempts share. */
import { z } from "zod";

export const budgetParam = z
  .enum(["attempt", "episode"])
  .default("attempt")
  .describe("Whether `rollout.max_tokens` limits each attempt or the whole episode.");
