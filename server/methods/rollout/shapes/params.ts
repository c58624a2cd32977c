/** What shapes of several attempts share. */
import { z } from "zod";
import { param } from "../../../core/declaration.ts";

export const budgetParam = param(
  z.enum(["attempt", "episode"]).default("attempt"),
  "Whether `rollout.max_tokens` limits each attempt or the whole episode.",
);
