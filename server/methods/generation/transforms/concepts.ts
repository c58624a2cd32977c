import { z } from "zod";
import { refers, template } from "../../../core/references.ts";
import { taskTransform, param } from "../../../core/declaration.ts";
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
    "A new task from concepts that weak tasks of one kind need. The author or the task's data names the concepts; those that often occur together or are similar are drawn together.",
  formula:
    "c_1 ∝ #{x : c ∈ C_x};  p(c | S) ∝ exp((Σ_{s ∈ S} #{x : c, s ∈ C_x} + cos(e_c, mean_{s ∈ S} e_s)) / temperature), within the kind of task that the selector's weights draw",
  sources: ["SwS: Self-aware Weakness-driven Problem Synthesis in Reinforcement Learning for LLM Reasoning"],
  params: requestParams(standard, "concepts", "category", "level").extend({
    field: param(
      refers({ to: "field" }).optional(),
      "Field of a task's data that names its concepts: a list, or a text with one a line; default: the author names them.",
    ),
    extract: param(
      template("prompt", "answer", "count").default(extraction),
      "Template of the question to the author about a parent: `{prompt}`, `{answer}`, `{count}`. Each line of its answer is a concept; if the answer has lists in brackets, the quoted texts of the last list are.",
    ),
    count: param(
      z.number().int().min(1).max(32).default(5),
      "Number of concepts that the author is asked for.",
    ),
    max_tokens: param(z.number().int().min(1).default(512), "Longest answer to that question, in tokens."),
    ask_most: param(
      z.number().int().min(1).default(256),
      "Parents that the author is asked about in one round; it is asked about each parent once.",
    ),
    size: param(z.number().int().min(1).max(16).default(5), "Concepts in one new task."),
    similarity: param(
      z
        .object({
          ...measureParams,
          temperature: param(
            z.number().positive().default(0.2),
            "Sampling temperature: the lower, the more likely concepts that occur together are drawn together.",
          ),
        })
        .prefault({}),
      "How concepts are combined.",
    ),
    levels: param(
      z.array(z.string().min(1)).default([]),
      "Difficulties in words, of which one is drawn evenly for `{level}`; none: the parent's difficulty.",
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
