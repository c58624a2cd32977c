import { z } from "zod";
import { schedulable, valueAt } from "../../../core/schedule.ts";
import { guidanceAmount, param } from "../../../core/declaration.ts";

export const fixed = guidanceAmount({
  name: "fixed",
  aliases: ["schedule"],
  summary: "The same share of the help for every rollout; it may follow a schedule.",
  sources: ["Beyond Accuracy: Dissecting Mathematical Reasoning for LLMs Under Reinforcement Learning"],
  params: z.object({
    share: param(
      schedulable(z.number().min(0).max(1)).default(0.5),
      "Share of the help that each rollout gets.",
    ),
  }),
  create: ({ share }) => ({
    rounds: 1,
    spread: "retries",
    share: ({ clock }) => ({ share: Math.min(1, Math.max(0, valueAt(share, clock))) }),
  }),
});
