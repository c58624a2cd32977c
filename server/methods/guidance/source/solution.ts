import { z } from "zod";
import { guidanceSource, param } from "../../../core/declaration.ts";
import { template, refers } from "../../../core/references.ts";
import type { Help, Lack } from "../../../core/slots/guidance.ts";
import { fill, firstText, firstTokens, textField, units } from "../../../core/templates.ts";

export const solution = guidanceSource({
  name: "solution",
  summary:
    "The first part of the task's written solution, as the response's beginning or as a text in the prompt.",
  sources: [
    "GHPO: Adaptive Guidance for Stable and Efficient LLM Reinforcement Learning",
    "Beyond Accuracy: Dissecting Mathematical Reasoning for LLMs Under Reinforcement Learning",
    "Staying in the Sweet Spot: Responsive Reasoning Evolution via Capability-Adaptive Hint Scaffolding",
  ],
  offers: ({ place, field }) => ({
    place,
    divisible: true,
    ...(field === undefined ? { reads: "solution" as const } : {}),
  }),
  params: z.object({
    place: param(
      z.enum(["response", "prompt"]).default("response"),
      "Where it goes: the policy continues it, or reads it in the prompt.",
    ),
    by: param(z.enum(units).default("token"), "The units that it is cut between."),
    field: param(
      refers({ to: "field" }).optional(),
      "Field of the task's data with the solution; default: the task's written solution.",
    ),
    template: param(
      template("prompt", "help").default("{prompt}\nThe solution begins with: {help}\n"),
      "For a part in the prompt: template of `{prompt}` and `{help}`.",
    ),
  }),
  create: ({ place, by, field, template }) => ({
    reads: "task",
    help: (requests, { tokenizer }) =>
      Promise.resolve(
        requests.map(({ task, share }): Help | Lack => {
          const whole = field === undefined ? task.solution : textField(task, field);
          if (whole === undefined) return { lack: `the task has no ${field ?? "written solution"}` };
          if (place === "response") {
            const tokens = firstTokens(whole, share, by, tokenizer);
            return { from: "guided", ...(tokens.length > 0 && { lead: [{ kind: "given", tokens }] }) };
          }
          const help = firstText(whole, share, by, tokenizer);
          return {
            from: "guided",
            ...(help !== "" && { prompt: fill(template, { prompt: task.prompt, help }) }),
          };
        }),
      ),
  }),
});
