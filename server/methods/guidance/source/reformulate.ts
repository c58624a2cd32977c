import { z } from "zod";
import { guidanceSource, param } from "../../../core/declaration.ts";
import { template } from "../../../core/references.ts";
import { fill } from "../../../core/templates.ts";
import type { Help, Lack } from "../../../core/slots/guidance.ts";

export const reformulate = guidanceSource({
  name: "reformulate",
  summary:
    "The policy reads the expert's whole solution, or only the answer, and writes its own response. With `context: strip` it trains on that response as one to the plain prompt.",
  sources: [
    "Learning Like Humans: Advancing LLM Reasoning Capabilities via Adaptive Difficulty Curriculum Learning and Expert-Guided Self-Reformulation",
  ],
  offers: ({ show }) => ({ place: "prompt", divisible: false, reads: show }),
  params: z.object({
    show: param(z.enum(["solution", "answer"]).default("solution"), "What the policy reads of the expert's."),
    template: param(
      template("prompt", "help").default("{prompt}\nAn expert's answer: {help}\nIn your own words: "),
      "Template of the prompt: `{prompt}` and `{help}`.",
    ),
  }),
  create: ({ show, template }) => ({
    reads: "task",
    help: (requests) =>
      Promise.resolve(
        requests.map(({ task }): Help | Lack => {
          const help = show === "solution" ? task.solution : task.answer;
          if (help === undefined) return { lack: `the task has no ${show}` };
          return { from: "guided", by: show, prompt: fill(template, { prompt: task.prompt, help }) };
        }),
      ),
  }),
});
