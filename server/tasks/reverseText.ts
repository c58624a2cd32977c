import { z } from "zod";
import { taskSource } from "../config/declaration.ts";
import { fill, generated } from "./generated.ts";

const params = z.object({
  lengths: z
    .array(z.number().int().min(1).max(64))
    .min(1)
    .default([3, 5, 7])
    .describe("Letters in the text: the difficulties, one arm each."),
  alphabet: z
    .string()
    .min(2)
    .default("abcdefghijklmnopqrstuvwxyz")
    .describe("Characters the text is drawn from."),
  prompt: z.string().default("{text}>").describe("Template of the prompt: `{text}`."),
});

export const reverseText = taskSource({
  name: "reverse_text",
  summary: "Write a random text backwards.",
  formula: "answer = reverse(text), text ~ U(alphabet^length)",
  sources: ["prime-rl reverse-text example"],
  params,
  create: (chosen, context) => {
    const name = context.name ?? "reverse_text";
    const letters = [...new Set(chosen.alphabet)];
    return generated({
      name,
      values: [...new Set(chosen.lengths)].map(String),
      make: (value, random) => {
        const text = Array.from({ length: Number(value) }, () => letters[random.integer(letters.length)]!);
        const answer = [...text].reverse().join("");
        return {
          id: `reverse_text:${text.join("")}`,
          source: name,
          env: "reverse_text",
          prompt: fill(chosen.prompt, { text: text.join("") }),
          answer,
          data: { text: text.join("") },
          solution: answer,
        };
      },
      valueOf: (task) =>
        typeof task.data["text"] === "string" ? String([...task.data["text"]].length) : undefined,
    });
  },
});
