import { taskTransform } from "../../../core/declaration.ts";
import { request, requestParams, taken } from "./requests.ts";

export const feedback = taskTransform({
  name: "feedback",
  summary:
    "A new task of the parent's kind; the request says how often each kind of task is solved. With a program as author, another task of the parent's difficulty.",
  sources: ["EnvGen: Generating and Adapting Environments via LLMs for Training Embodied Agents"],
  status: "approximate",
  params: requestParams(
    "How often each kind of task is solved:\n{feedback}\n\nWrite a new task that trains what is solved least, of the same form as this one. Write only the new task.\n\nTask:\n{prompt}\n\nNew task:\n",
  ),
  create: ({ take, request: text }) => ({
    ...taken(take),
    level: 0,
    parents: 1,
    keeps_answer: false,
    ask: (parents, context) => request(text, parents, context),
  }),
});
