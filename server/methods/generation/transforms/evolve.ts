import { z } from "zod";
import { taskTransform, param } from "../../../core/declaration.ts";
import { request, requestParams, taken } from "./requests.ts";

const ways = {
  depth: "Make this problem harder: add a condition, a step of reasoning or a less usual case.",
  breadth: "Write a new problem of the same field that is rarer and asks for something else.",
} as const;
const rest = " Write only the new problem.\n\nProblem:\n{prompt}\n\nNew problem:\n";

export const evolve = taskTransform({
  name: "evolve",
  summary:
    "A harder task (depth) or a different one (breadth); with a program as author, a task of higher or of equal difficulty.",
  sources: [
    "Scalable Reinforcement Post-Training Beyond Static Human Prompts: Evolving Alignment via Asymmetric Self-Play",
    "WebRL: Training LLM Web Agents via Self-Evolving Online Curriculum Reinforcement Learning",
  ],
  params: requestParams("").extend({
    way: param(
      z.enum(["depth", "breadth"]).default("depth"),
      "depth: a harder task; breadth: a different one.",
    ),
    by: param(
      z.number().int().min(1).default(1),
      "For depth with a program as author: how many difficulties higher.",
    ),
  }),
  create: ({ take, request: text, way, by }) => ({
    ...taken(take),
    level: way === "depth" ? by : 0,
    parents: 1,
    keeps_answer: false,
    ask: (parents, feedback) => request(text === "" ? ways[way] + rest : text, parents, feedback),
  }),
});
