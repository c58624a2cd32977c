import { z } from "zod";
import { refers, template } from "../../../core/references.ts";
import { rewardTerm, param } from "../../../core/declaration.ts";
import { pairing, headParam } from "../../../core/slots/objective.ts";
import { headChannel } from "../../../core/channelNames.ts";
import type { TermValue } from "../../../core/slots/reward.ts";
import type { Models } from "../../../core/policy.ts";
import type { Learner, RewardTerm } from "../../../core/reward.ts";
import type { Batch } from "../../../core/rollouts.ts";
import { BESIDE_REFERENCE } from "../../../core/rows/reading.ts";
import { besideReference } from "./besideReference.ts";
import { learning, scoreBy, update as updateParam } from "./lesson.ts";
import { failure, none, value } from "../perRow.ts";

const params = z.object({
  model: param(
    refers({ to: "model" }).min(1),
    "The model with the head, a name in `models`; it has to train unless `update: frozen`.",
  ),
  head: headParam("reward"),
  update: updateParam("frozen", "it learns from pairs of the same rollouts which of two is better"),
  from: param(
    refers({ to: "term" }).optional(),
    "The reward term that ranks the rollouts it learns from; default: the first term that has values.",
  ),
  pairs: pairing("all"),
  margin: param(z.number().min(0).default(0), "Margin between the scores of a pair."),
  given: param(
    z.union([z.literal("reference"), template("prompt", "reference")]).optional(),
    "What the model reads before the response in the place of its prompt, so that it compares the response with the task's written solution or answer, `{reference}`. reference: the prompt with the reference, a mark, and the prompt again, as POLAR has it.",
  ),
});

/** A learner that reads what the term reads. */
const reading = (
  learner: Learner,
  read: (batch: Batch, models: Models) => { readonly batch: Batch },
): Learner => ({
  ...learner,
  train: (models, batch, rewards, clock) => learner.train(models, read(batch, models).batch, rewards, clock),
});

export const rewardModel = rewardTerm({
  name: "reward_model",
  aliases: ["bradley_terry"],
  summary:
    "The score of a head of another model at a response's last token; the head can learn from pairs as the run goes on.",
  formula: "r = head(s_last); online: ℓ = −log σ(r_better − r_worse − margin)",
  sources: [
    "Training language models to follow instructions with human feedback",
    "Pre-Trained Policy Discriminators are General Reward Models",
    "Reusing Embeddings: Reproducible Reward Model Research in Large Language Model Alignment without GPUs",
  ],
  params,
  create: ({ model, head, update, from, pairs, margin, given }, context): RewardTerm => {
    const loss = { use: "bradley_terry", params: { head, pairs, margin, centre: 0 } };
    const shown = given === "reference" ? BESIDE_REFERENCE : given;
    const read = (batch: Batch, models: Models): ReturnType<typeof besideReference> =>
      shown === undefined ? { batch, problems: new Map() } : besideReference(batch, models.get(model), shown);
    const { learners } = learning(update, { model, loss, from }, context);
    return {
      ...(learners && { learners: learners.map((one) => reading(one, read)) }),
      async score(batch, { models }) {
        const channel = headChannel(head);
        const seen = read(batch, models);
        const scores = (await scoreBy(models, model, seen.batch, [channel]))[channel]!;
        return batch.records.map((_, row): TermValue => {
          const problem = seen.problems.get(row);
          if (problem !== undefined) return failure(problem);
          let last = batch.offsets[row + 1]! - 1;
          while (last >= batch.offsets[row]! && batch.mask[last] === 0) last -= 1;
          if (last < batch.offsets[row]!) return none;
          const score = scores[last]!;
          return Number.isFinite(score) ? value(score) : failure(`the score of ${model} is ${score}`);
        });
      },
    };
  },
});
