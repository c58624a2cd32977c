import { z } from "zod";
import { taskTransform, param } from "../../../core/declaration.ts";
import { measureParams, nearOf } from "./measures.ts";
import { request, requestParams, taken } from "./requests.ts";

export const recombine = taskTransform({
  name: "recombine",
  summary: "A new task that combines what several parents need.",
  formula:
    "p(j | first i) ∝ w_j · exp(sim(i, j) / temperature), sim: cosine of counts of three letters in a row, or of a model's states",
  sources: ["WebRL: Training LLM Web Agents via Self-Evolving Online Curriculum Reinforcement Learning"],
  status: "approximate",
  params: requestParams(
    "Find what each of these problems needs to be solved, and write one new problem that needs all of it. Write only the new problem.\n\nProblems:\n{prompt}\n{other}\n\nNew problem:\n",
  ).extend({
    parents: param(z.number().int().min(2).max(16).default(2), "Parents of one child task."),
    similarity: param(
      z
        .object({
          ...measureParams,
          temperature: param(
            z.number().positive().default(0.2),
            "Sampling temperature: the lower, the more similar the parents of one child task are.",
          ),
        })
        .optional(),
      "Further parents are drawn by how similar their texts are to the first parent's; default: by weight alone.",
    ),
  }),
  create: ({ take, request: text, parents, similarity }) => ({
    ...taken(take),
    level: 0,
    parents,
    ...(similarity === undefined ? {} : { near: nearOf(similarity) }),
    keeps_answer: false,
    ask: (chosen, feedback) => request(text, chosen, feedback),
  }),
});
