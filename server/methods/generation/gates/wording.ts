import { z } from "zod";
import { taskGate, param } from "../../../core/declaration.ts";
import { TextPattern } from "../../../lib/texts/textPattern.ts";
import { isPattern } from "../../../lib/textSpans.ts";

const pattern = (what: string) =>
  param(
    z.string().refine(isPattern, { message: "must be a regular expression" }).optional(),
    `${what}; case is ignored.`,
  );

export const wording = taskGate({
  name: "wording",
  summary: "The prompt has certain words, or lacks others: no proofs, one question.",
  sources: ["SwS: Self-aware Weakness-driven Problem Synthesis in Reinforcement Learning for LLM Reasoning"],
  params: z
    .object({
      require: pattern("Regular expression that must match somewhere"),
      forbid: pattern("Regular expression that must match nowhere"),
    })
    .refine(({ require: needs, forbid }) => needs !== undefined || forbid !== undefined, {
      message: "needs `require` or `forbid`",
    }),
  create: ({ require: needs, forbid }) => {
    const [must, never] = [needs, forbid].map((text) =>
      text === undefined ? undefined : new TextPattern(text, "i"),
    );
    return {
      tries: false,
      admit: ({ task: { prompt } }) => {
        if (never !== undefined && never.test(prompt) !== false)
          return { admitted: false, reason: "it has forbidden words" };
        if (must !== undefined && must.test(prompt) !== true)
          return { admitted: false, reason: "it lacks required words" };
        return { admitted: true };
      },
    };
  },
});
