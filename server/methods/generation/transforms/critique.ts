import { z } from "zod";
import { template } from "../../../core/references.ts";
import { taskTransform, param } from "../../../core/declaration.ts";
import { fill } from "../../../core/templates.ts";

export const critique = taskTransform({
  name: "critique",
  summary:
    "Judge one of the policy's own responses to the parent. The answer is the verdict; where there are right and wrong responses, each is equally likely. Needs no author.",
  formula: "c* = 1[the response succeeded]",
  sources: ["Critique-Coder: Enhancing Coder Models by Critique Reinforcement Learning"],
  status: "approximate",
  params: z.object({
    request: param(
      template("prompt", "response").default(
        "Problem:\n{prompt}\n\nA solution:\n{response}\n\nSay what is right or wrong in it, then T if it is right, F if it is wrong.\nCritique:\n",
      ),
      "Template of the new prompt: `{prompt}` of the parent, the `{response}` to judge.",
    ),
    right: param(z.string().min(1).default("T"), "The verdict on a right response."),
    wrong: param(z.string().min(1).default("F"), "The verdict on a wrong one."),
    answers: param(
      z.number().int().min(1).default(4),
      "How many right and how many wrong responses are kept of each task.",
    ),
  }),
  create: ({ request, right, wrong, answers }) => ({
    level: 0,
    parents: 1,
    keeps_answer: false,
    answers,
    ask: () => "",
    make: ({ task, answers: seen }, random) => {
      const kinds = [true, false].filter((kind) => seen.some((one) => one.right === kind));
      const kind = kinds[kinds.length === 0 ? 0 : random.integer(kinds.length)];
      const open = seen.filter((one) => one.right === kind);
      const chosen = open[open.length === 0 ? 0 : random.integer(open.length)];
      if (chosen === undefined) return null;
      const { response } = chosen;
      const verdict = chosen.right ? right : wrong;
      return {
        env: "critique",
        prompt: fill(request, { prompt: task.prompt, response }),
        answer: verdict,
        data: { of: task.id, response },
        solution: verdict,
      };
    },
  }),
});
