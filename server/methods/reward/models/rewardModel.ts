import { z } from "zod";
import { refers } from "../../../core/references.ts";
import { rewardTerm, param } from "../../../core/declaration.ts";
import { pairing, headParam } from "../../../core/slots/objective.ts";
import { headChannel } from "../../../core/channelNames.ts";
import type { TermValue } from "../../../core/slots/reward.ts";
import type { RewardTerm } from "../../../core/reward.ts";
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
});

export const rewardModel = rewardTerm({
  name: "reward_model",
  aliases: ["bradley_terry"],
  summary:
    "The score of a head of another model at a response's last token; the head can learn from pairs as the run goes on.",
  formula: "r = head(s_last); online: ℓ = −log σ(r_better − r_worse − margin)",
  sources: [
    "Training language models to follow instructions with human feedback",
    "Reusing Embeddings: Reproducible Reward Model Research in Large Language Model Alignment without GPUs",
  ],
  params,
  create: ({ model, head, update, from, pairs, margin }, context): RewardTerm => {
    const loss = { use: "bradley_terry", params: { head, pairs, margin, centre: 0 } };
    return {
      ...learning(update, { model, loss, from }, context),
      async score(batch, { models }) {
        const channel = headChannel(head);
        const scores = (await scoreBy(models, model, batch, [channel]))[channel]!;
        return batch.records.map((_, row): TermValue => {
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
