import { z } from "zod";
import { template } from "../../core/references.ts";
import { taskSource, param } from "../../core/declaration.ts";
import type { Random } from "../../lib/random.ts";
import type { Task } from "../../core/task.ts";
import { fill } from "../../core/templates.ts";
import { generated, unfill, wholeKnob } from "./generated.ts";

const params = z.object({
  lengths: param(
    z.array(z.number().int().min(1).max(64)).min(1).default([3, 5, 7]),
    "Letters in the text: the difficulties, one arm each.",
  ),
  alphabet: param(
    z.string().min(2).default("abcdefghijklmnopqrstuvwxyz"),
    "Characters the text is drawn from.",
  ),
  prompt: param(template("text").default("{text}>"), "Template of the prompt: `{text}`."),
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
    const taskOf = (text: readonly string[]): Task => {
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
    };
    const make = (length: number, from: readonly string[], random: Random): Task =>
      taskOf(Array.from({ length }, () => from[random.integer(from.length)]!));
    return generated({
      env: "reverse_text",
      name,
      values: [...new Set(chosen.lengths)].map(String),
      make: (value, random) => make(Number(value), letters, random),
      box: [wholeKnob("length", [1], 64), wholeKnob("letters", [2], letters.length)],
      makeAt: ({ length = 1, letters: few = letters.length }, random) =>
        make(length, letters.slice(0, few), random),
      range: [1, 64],
      read: (prompt) => {
        const text = [...(unfill(chosen.prompt, prompt, { text: ".+" })?.["text"] ?? "")];
        const fits = text.length >= 1 && text.length <= 64 && text.every((one) => letters.includes(one));
        return fits ? taskOf(text) : null;
      },
      valueOf: (task) =>
        typeof task.data["text"] === "string" ? String([...task.data["text"]].length) : undefined,
    });
  },
});
