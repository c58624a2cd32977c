import { z } from "zod";
import { auxiliary, param } from "../../core/declaration.ts";
import { refers, template } from "../../core/references.ts";

export const corrections = auxiliary({
  name: "corrections",
  aliases: ["dagger"],
  summary:
    "Imitates corrected thoughts: a model, or the task's written solution where no model is named, says what a rollout should have thought. Every correction so far trains (DAgger), and only its thought.",
  formula:
    "L = −Σ_t log π(c_t | x, o_<k, c_<t) / tokens, c: the corrected thought, o_<k: the response up to it",
  sources: [
    "GTR: Guided Thought Reinforcement Prevents Thought Collapse in RL-based VLM Agent Training",
    "A Reduction of Imitation Learning and Structured Prediction to No-Regret Online Learning",
  ],
  params: z.object({
    model: param(
      refers({ to: "model", also: ["policy", "reference"] }).optional(),
      "The corrector; default: the task's written solution, e.g. from an exact solver.",
    ),
    ask: param(
      template("prompt", "thought", "response", "solution", "answer").default(
        "Question: {prompt}\nThought: {thought}\nThe thought without its mistakes: ",
      ),
      "Template of the corrector's prompt: `{prompt}`, `{thought}`, `{response}`, `{solution}`, `{answer}`.",
    ),
    max_tokens: param(
      z.number().int().positive().optional(),
      "Longest correction, in tokens; default: the limit of rollouts.",
    ),
    tag: param(
      z.string().default("think"),
      "Tag of the thought in a response, e.g. `think` for `<think>…</think>`; where it is empty or missing, the thought is the whole response.",
    ),
    of: param(
      z.enum(["all", "wrong"]).default("all"),
      "Which rollouts are corrected: all, or those that failed.",
    ),
    rows: param(z.number().int().positive().default(32), "Corrections in each batch."),
    capacity: param(
      z.number().int().positive().default(4096),
      "How many of the newest corrections are kept.",
    ),
    entropy: param(z.number().default(0), "Coefficient of an entropy bonus over the same tokens."),
  }),
  create: ({ model, ask, max_tokens, tag, of, rows, capacity, entropy }) => ({
    kind: "likelihood",
    data: {
      from: "corrections",
      capacity,
      of,
      tag,
      ...(model !== undefined && {
        corrector: { model, ask, ...(max_tokens !== undefined && { max_tokens }) },
      }),
    },
    rows,
    entropy,
    gap: 0,
  }),
});
