import { z } from "zod";
import { guidanceSource, param } from "../../../core/declaration.ts";
import { template } from "../../../core/references.ts";
import { fill } from "../../../core/templates.ts";

/** What is put before a task, in words of our own: the behaviour asked for, each with its tag. */
const priors = {
  think: "First reason step by step between <think> and </think>, then answer.",
  plan: "First write a short plan between <plan> and </plan>, then follow it and answer.",
  code: "First solve it as a program between <code> and </code>, then answer.",
  knowledge: "First recall facts that help between <knowledge> and </knowledge>, then answer.",
  null_examples:
    "First list examples and counterexamples that bear on it between <examples> and </examples>, then answer.",
} as const;

export const instruction = guidanceSource({
  name: "instruction",
  summary:
    "An instruction before every prompt that asks for a way of working: thinking, planning, coding, recalling, or listing examples and counterexamples.",
  sources: ["Prior Prompt Engineering for Reinforcement Fine-Tuning"],
  offers: () => ({ place: "prompt", divisible: false }),
  params: z.object({
    prior: param(
      z.enum(["think", "plan", "code", "knowledge", "null_examples"]).default("think"),
      "One of the built-in instructions.",
    ),
    text: param(z.string().optional(), "Instead of `kind`: your own instruction."),
    template: param(
      template("prompt", "help").default("{help}\n{prompt}"),
      "Template of the prompt: `{prompt}` and `{help}`, the instruction.",
    ),
  }),
  create: ({ prior, text, template }) => ({
    reads: "task",
    help: (requests) =>
      Promise.resolve(
        requests.map(({ task }) => ({
          from: "guided",
          by: text === undefined ? prior : "text",
          prompt: fill(template, { prompt: task.prompt, help: text ?? priors[prior] }),
        })),
      ),
  }),
});
