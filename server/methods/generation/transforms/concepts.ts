import { z } from "zod";
import { refers, template } from "../../../core/references.ts";
import { taskTransform } from "../../../core/declaration.ts";
import { fill } from "../../../core/templates.ts";
import type { Task } from "../../../core/task.ts";
import { measureParams, nearOf } from "./measures.ts";
import { request, requestParams, taken } from "./requests.ts";

const standard = `Write one new problem of the field below that needs several of these concepts.

Field: {category}
Concepts:
{concepts}
Difficulty: {level}

New problem:
`;
const extraction = `What does somebody have to know to solve this problem? Name the concepts and skills that it needs, each in a few exact words that would fit other problems too, {count} at most, one a line. Write nothing else.

Problem:
{prompt}

Concepts:
`;

export const concepts = taskTransform({
  name: "concepts",
  aliases: ["concept_recombine"],
  summary:
    "A new task that needs concepts which weak tasks of one kind need: named by the author or by the task's data, drawn together by how often they go together and how near they are.",
  formula:
    "c_1 ∝ #{x : c ∈ C_x};  p(c | S) ∝ exp((Σ_{s ∈ S} #{x : c, s ∈ C_x} + cos(e_c, mean_{s ∈ S} e_s)) / temperature), within the kind of task that the selector's weights draw",
  sources: ["SwS: Self-aware Weakness-driven Problem Synthesis in Reinforcement Learning for LLM Reasoning"],
  params: requestParams(standard, "concepts", "category", "level").extend({
    field: refers({ to: "field" })
      .optional()
      .describe(
        "Field of a task's data that names its concepts: a list, or a text with one a line; default: the author is asked.",
      ),
    extract: template("prompt", "answer", "count")
      .default(extraction)
      .describe(
        "Template of what the author is asked of a parent: `{prompt}`, `{answer}`, `{count}`. Its answer is read line by line; of one with a list in brackets, the quoted texts of the last.",
      ),
    count: z.number().int().min(1).max(32).default(5).describe("Concepts that the author is asked to name."),
    max_tokens: z.number().int().min(1).default(512).describe("Longest answer to that, in tokens."),
    ask_most: z
      .number()
      .int()
      .min(1)
      .default(256)
      .describe("Parents that the author is asked about in one round; each is asked about once."),
    size: z.number().int().min(1).max(16).default(5).describe("Concepts of one new task."),
    similarity: z
      .object({
        ...measureParams,
        temperature: z
          .number()
          .positive()
          .default(0.2)
          .describe("The lower, the more surely concepts are drawn that go together."),
      })
      .prefault({})
      .describe("How concepts are drawn together."),
    levels: z
      .array(z.string().min(1))
      .default([])
      .describe(
        "How hard a new task is to be, in words: one of them, drawn evenly, stands for `{level}`; none: the parent's difficulty.",
      ),
  }),
  create: ({ take, request: text, similarity, ...chosen }) => ({
    ...taken(take),
    level: 0,
    parents: 1,
    keeps_answer: false,
    ask: (parents, feedback, drawn) => request(text, parents, feedback, drawn),
    concepts: {
      ...chosen,
      field: chosen.field,
      most: chosen.ask_most,
      near: nearOf(similarity),
      ask: ({ prompt, answer, solution }: Task) =>
        fill(chosen.extract, { prompt, answer: answer ?? solution ?? "", count: String(chosen.count) }),
    },
  }),
});
