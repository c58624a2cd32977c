import { z } from "zod";
import { UserError } from "../../../../shared/lib/errors.ts";
import { param, rewardTerm } from "../../../core/declaration.ts";
import { refers, template } from "../../../core/references.ts";
import type { RewardTerm } from "../../../core/reward.ts";
import type { Batch } from "../../../core/rollouts.ts";
import { headParam } from "../../../core/slots/objective.ts";
import type { TermValue } from "../../../core/slots/reward.ts";
import { failure, none } from "../perRow.ts";
import { update as updateParam } from "../models/lesson.ts";
import { scoreParams } from "../judges/scores.ts";
import { tellerOf, tellerParam } from "../judges/teller.ts";
import { stepLearner } from "./stepLearner.ts";
import { scoresByHead, scoresByJudge, type StepScores } from "./stepScores.ts";
import { transformed, transforms } from "./transforms.ts";

const params = z.object({
  model: param(
    refers({ to: "model" }).optional(),
    "The process reward model, a name in `models`: its head scores each step at the step's last token. It has to train unless `update: frozen`.",
  ),
  head: headParam("reward"),
  squash: param(
    z.enum(["none", "sigmoid"]).default("none"),
    "Whether the head's value becomes a probability. A head that learns from labels of 0 and 1 needs it.",
  ),
  judge: param(
    tellerParam().optional(),
    "In the place of a model's head: a judge who reads the response up to each step, a server (`{ url, model }`) or a model of the run (`{ of }`).",
  ),
  ask: param(
    template("prompt", "steps", "step", "answer", "low", "high").default(
      "Question: {prompt}\n\nReasoning so far: {steps}\n\nRate the last step, from {low} (wrong or useless) to {high} (right and helpful). End with a line `Score: ` and the number.",
    ),
    "Template of the judge's question: `{prompt}`, `{steps}` up to this one, `{step}`, the task's `{answer}`, `{low}`, `{high}`.",
  ),
  ...scoreParams,
  bidirectional: param(
    z.boolean().default(false),
    "Score the steps also in reverse order, from the last to the first, and take the mean of both.",
  ),
  transform: param(
    z.array(z.enum(transforms)).default([]),
    "What is made of the scores, in this order. clip: min(score − eta, 0); delta: the score less the next step's; last: the last step's alone; thoughts: steps in a row on the same side of eta are one thought, whose mean is at its last step. A raw score by step is an invitation to repeat good steps.",
  ),
  eta: param(z.number().default(0), "η of clip, and where thoughts differ."),
  answer_step: param(
    z.boolean().default(false),
    "For delta: the last step is the answer, which only other terms score.",
  ),
  update: updateParam("frozen", "its head learns the labels of the same rollouts' steps"),
  from: param(
    refers({ to: "term" }).optional(),
    "The reward term whose values by step are the labels, e.g. `prefix_value`; default: the first term that has values.",
  ),
});
type Params = z.output<typeof params>;

/** Values by step; of a row without steps, one for the whole. */
const valueOf = (scores: StepScores[number], row: number, batch: Batch, options: Params): TermValue => {
  if (typeof scores === "string") return failure(scores);
  if (scores.length === 0) return none;
  const values = transformed(scores, options.transform, options);
  const { steps } = batch.records[row]!;
  return steps === undefined || steps.length === 0
    ? { kind: "value", value: values[0]! }
    : { kind: "values", level: "step", values };
};

function scorerOf(options: Params): (...args: Parameters<RewardTerm["score"]>) => Promise<StepScores> {
  const { judge, model, ask, bidirectional } = options;
  if (judge !== undefined) {
    const teller = tellerOf(judge);
    return (batch, context) => scoresByJudge(batch, context, teller, { ask, scale: options, bidirectional });
  }
  if (model === undefined)
    throw new UserError("process has neither a `model` nor a `judge`", {
      code: "process-scorer",
      action: "Name a model with a head (`model`), or a judge (`judge: { url, model }` or `{ of }`).",
    });
  return (batch, context) => scoresByHead(batch, context, { ...options, model });
}

export const process = rewardTerm({
  name: "process",
  aliases: ["prm"],
  summary:
    "A score of every step of a response (`rollout.steps` says what one is), by a head of a model or by a judge, with the transforms that keep it from being hacked. The head can learn from labels as the run goes on.",
  formula:
    "clip: r_k = min(PRM_k − η, 0) · delta: r_k = PRM_k − PRM_{k+1}, r_K = PRM_K · last: r_K = PRM_K · bidirectional: PRM_k = ½(PRM_k^→ + PRM_k^←)",
  sources: [
    "On Designing Effective RL Reward at Training Time for LLM Reasoning",
    "The Bidirectional Process Reward Model",
    "Good Learners Think Their Thinking: Generative PRM Makes Large Reasoning Model More Efficient Math Learner",
    "Process Supervision-Guided Policy Optimization for Code Generation",
  ],
  params,
  create: (options, context): RewardTerm => {
    const scores = scorerOf(options);
    const { model, head, squash, update, from } = options;
    return {
      ...(update !== "frozen" && model !== undefined
        ? { learners: [stepLearner({ model, head, squash, from, who: context.name ?? model }, update)] }
        : {}),
      score: async (batch, reading) =>
        (await scores(batch, reading)).map((own, row) => valueOf(own, row, batch, options)),
    };
  },
});
