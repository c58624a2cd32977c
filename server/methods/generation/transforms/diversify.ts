import { taskTransform } from "../../../core/declaration.ts";
import { request, requestParams, taken } from "./requests.ts";

export const diversify = taskTransform({
  name: "diversify",
  summary:
    "The same problem in other words, with the same answer; with a program as author, another task of the same difficulty.",
  sources: ["CLPO: Curriculum Learning meets Policy Optimization for LLM Reasoning"],
  params: requestParams(
    "Write this problem anew, in another setting and other words, so that it is as hard and has exactly the same answer. Write only the new problem.\n\nProblem:\n{prompt}\n\nAnswer: {answer}\n\nNew problem:\n",
  ),
  create: ({ take, request: text }) => ({
    ...taken(take),
    level: 0,
    parents: 1,
    keeps_answer: true,
    ask: (parents, feedback) => request(text, parents, feedback),
  }),
});
