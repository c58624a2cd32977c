import { z } from "zod";
import { taskTransform, param } from "../../../core/declaration.ts";
import { request, requestParams, taken } from "./requests.ts";

export const simplify = taskTransform({
  name: "simplify",
  summary: "An easier task with the same answer; with a program as author, a task of lower difficulty.",
  sources: ["CLPO: Curriculum Learning meets Policy Optimization for LLM Reasoning"],
  params: requestParams(
    "Rewrite this problem so that it is easier to solve but keeps exactly the same answer. Write only the new problem.\n\nProblem:\n{prompt}\n\nAnswer: {answer}\n\nNew problem:\n",
  ).extend({
    by: param(z.number().int().min(1).default(1), "With a program as author: how many difficulties lower."),
  }),
  create: ({ take, request: text, by }) => ({
    ...taken(take),
    level: -by,
    parents: 1,
    keeps_answer: true,
    ask: (parents, feedback) => request(text, parents, feedback),
  }),
});
