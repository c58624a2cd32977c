import { z } from "zod";
import { episodeShape, param } from "../../../core/declaration.ts";
import { template } from "../../../core/references.ts";
import { budgetParam } from "./params.ts";

export const environment = episodeShape({
  name: "environment",
  summary:
    "The policy and the task's environment take turns, until the environment ends the episode; tools that the policy calls answer in between.",
  sources: [
    "Search-R1: Training LLMs to Reason and Leverage Search Engines with Reinforcement Learning",
    "Grounding Large Language Models in Interactive Environments with Online Reinforcement Learning",
  ],
  params: z.object({
    turns: param(z.number().int().min(1).default(8), "Most turns of the policy in an episode."),
    budget: budgetParam,
    seconds: param(
      z.number().positive().default(60),
      "Longest wait for an answer of the environment or of a tool; after it the episode has failed and does not train.",
    ),
    actions: param(
      z.enum(["write", "choose"]).default("write"),
      "write: a turn is what the policy writes; choose: one of the actions that the environment lists, drawn by P(a) = exp(Σ log π(w)) / Σ_b the same over the tokens w of each. Log-probs, entropies and gradients of the turn are then those of this choice (GLAM).",
    ),
    observation: param(
      template("text").default("\n{text}\n"),
      "How the environment's words are written where the model has no chat template: `{text}`.",
    ),
    calls: param(
      z.enum(["json", "tags"]).default("json"),
      'How the policy calls a tool. json: `<tool_call>{"name": …, "arguments": {…}}</tool_call>`, any number in a turn; tags: `<search>query</search>`, a tag a tool with one text as its argument, and the result goes on in the same turn.',
    ),
    result: param(
      template("result", "name").optional(),
      "How a tool's result is written: `{result}`, and `{name}`, the tool. Default: json: as the chat template has it, else in `<tool_response>`; tags: in `<information>`.",
    ),
    next: param(
      z.enum(["append", "rerender"]).default("append"),
      "What the policy reads before its next turn. append: the tokens so far, and what the chat template writes in between; rerender: the conversation as the chat template writes it again. Where that differs from the tokens so far, they become a rollout of their own with the episode's advantage.",
    ),
  }),
  create: ({ turns, budget, seconds, actions, observation, calls, result, next }) => ({
    most: turns,
    budget,
    judges: false,
    tries: () => turns,
    reply: () => undefined,
    plays: { seconds, actions, observation, calls, next, ...(result !== undefined && { result }) },
  }),
});
