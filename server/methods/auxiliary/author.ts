import { z } from "zod";
import { auxiliary, param } from "../../core/declaration.ts";
import { refers } from "../../core/references.ts";

export const author = auxiliary({
  name: "author",
  aliases: ["rewriter", "adversary"],
  summary:
    "Trains a model that writes the step's tasks (`generate` with `author: { use: model }` and `joins: step`) by how they went: each text earns what `pays` says, and is compared with the other texts for the same request (`generate.children`). It learns by its `objective` before the policy does, with its own optimiser; its `place` is not read.",
  formula: "A_i = (r_i − mean_j r_j) / (std_j r_j + ε) over the texts j of a request",
  sources: [
    "PromptRL: Prompt Matters in RL for Flow-Based Image Generation",
    "DuoGuard: A Two-Player RL-Driven Framework for Multilingual LLM Guardrails",
  ],
  params: z.object({
    model: param(refers({ to: "model" }).min(1), "The model of `models` that writes and trains."),
    pays: param(
      z.enum(["reward", "failure"]).default("reward"),
      "reward: the mean reward of the task's rollouts (a rewriter that helps); failure: the share of them that do not succeed (an adversary).",
    ),
    refused: param(
      z.number().default(0),
      "What a text earns that gave the step no task, because no task was found in it or a gate rejected it. A text that repeats its parent or another text earns what that earned.",
    ),
    scale: param(
      z.enum(["group_std", "none"]).default("group_std"),
      "Whether advantages are divided by the standard deviation over the texts of the request.",
    ),
    epsilon: param(z.number().nonnegative().default(1e-4), "ε, added to that deviation."),
    each: param(
      z.enum(["rollout", "token"]).default("rollout"),
      "What counts equally in the loss: texts of whatever length, or their tokens.",
    ),
    updates: param(
      z.number().int().positive().default(1),
      "Updates per step, each on all texts that it wrote in the step.",
    ),
    kl: param(
      z
        .strictObject({
          model: param(
            refers({ to: "model" }).min(1),
            "The other model, e.g. a `polyak` copy of this one, which follows it slowly.",
          ),
          coefficient: param(z.number().nonnegative().default(0.01), "Factor on the divergence."),
        })
        .optional(),
      "A penalty on the model's divergence (k3) from another one, added to its loss.",
    ),
  }),
  create: ({ scale, epsilon, ...params }) => ({
    kind: "author",
    ...params,
    epsilon: scale === "none" ? undefined : epsilon,
    kl: params.kl,
  }),
});
