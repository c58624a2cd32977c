import { z } from "zod";
import { guidanceSource, param } from "../../../core/declaration.ts";
import { refers } from "../../../core/references.ts";
import { textField } from "../../../core/templates.ts";
import type { Help, Lack } from "../../../core/slots/guidance.ts";

export const demonstration = guidanceSource({
  name: "demonstration",
  summary: "The task's written solution as a whole rollout, prefilled up to its end token.",
  sources: [
    "Learning to Reason under Off-Policy Guidance",
    "RL-PLUS: Countering Capability Boundary Collapse of LLMs in Reinforcement Learning with Hybrid-policy Optimization",
  ],
  offers: ({ field }) => ({
    place: "response",
    divisible: false,
    whole: true,
    ...(field === undefined ? { reads: "solution" as const } : {}),
  }),
  params: z.object({
    field: param(
      refers({ to: "field" }).optional(),
      "Field of the task's data with the solution; default: the task's written solution.",
    ),
  }),
  create: ({ field }) => ({
    reads: "task",
    help: (requests, { tokenizer }) =>
      Promise.resolve(
        requests.map(({ task }): Help | Lack => {
          const text = field === undefined ? task.solution : textField(task, field);
          if (text === undefined) return { lack: `the task has no ${field ?? "written solution"}` };
          const tokens = Int32Array.from([...tokenizer.encode(text), tokenizer.eos]);
          return { from: "dataset", whole: true, by: field ?? "solution", lead: [{ kind: "given", tokens }] };
        }),
      ),
  }),
});
