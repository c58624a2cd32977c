import { z } from "zod";
import { sampler } from "../../../core/declaration.ts";
import { costOf, taking } from "../fast/top.ts";

export const greedy = sampler({
  name: "greedy",
  aliases: ["argmax"],
  summary: "Draws the arms of the largest estimates, unknown arms first.",
  formula: "argmax_a Q(a), or with arms that are tasks the n largest",
  sources: ["Reinforcement Learning for Reasoning in Large Language Models with One Training Example"],
  takes: ["estimate"],
  params: z.object({}),
  create: () => taking(["estimate"], ({ estimates }) => estimates.map(costOf), costOf),
});
