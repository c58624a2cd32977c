import { z } from "zod";
import { taskTransform } from "../../config/declaration.ts";
import { kinship } from "../similarity.ts";
import { request, requestParams } from "./requests.ts";

export const recombine = taskTransform({
  name: "recombine",
  aliases: ["concept_recombine"],
  summary: "A new task that needs what several parents need.",
  formula:
    "p(j | first i) ∝ w_j · exp(sim(i, j) / temperature), sim: cosine of counts of three letters in a row",
  sources: ["SwS: Self-aware Weakness-driven Problem Synthesis in Reinforcement Learning for LLM Reasoning"],
  status: "approximate",
  params: requestParams(
    "Find what each of these problems needs to be solved, and write one new problem that needs all of it. Write only the new problem.\n\nProblems:\n{prompt}\n{other}\n\nNew problem:\n",
  ).extend({
    parents: z.number().int().min(2).max(8).default(2).describe("Parents of one child."),
    similarity: z
      .object({
        temperature: z
          .number()
          .positive()
          .default(0.2)
          .describe("The lower, the more alike the parents of one child are."),
      })
      .optional()
      .describe(
        "Further parents are drawn by how alike their texts are to the first's; default: by weight alone.",
      ),
  }),
  create: ({ request: text, parents, similarity }) => ({
    level: 0,
    parents,
    ...(similarity === undefined ? {} : { kin: kinship(similarity.temperature) }),
    keeps_answer: false,
    ask: (chosen, feedback) => request(text, chosen, feedback),
  }),
});
