import { createHash } from "node:crypto";

/** Neither trainer names its tasks: equal prompts are one task, in every step. */
export const taskId = (prompt: string): string =>
  `prompt-${createHash("sha1").update(prompt).digest("hex").slice(0, 10)}`;
