import { z } from "zod";
import { objective, param } from "../../../core/declaration.ts";
import type { Weighed } from "../../../core/policy.ts";
import type { Objective, ObjectiveInput } from "../../../core/loss.ts";
import { column } from "../column.ts";
import { notFinite } from "../finite.ts";
import { logSigmoid, sigmoid } from "../numbers.ts";
import { pairing, headParam } from "../../../core/slots/objective.ts";
import { pairsOf, unitOf } from "./pairs.ts";
import { lastTrained } from "../../../core/rows/spans.ts";
import { headChannel } from "../values/valueParams.ts";

const params = z.object({
  head: headParam("reward"),
  pairs: pairing("all"),
  margin: param(z.number().min(0).default(0), "Margin between the two scores."),
  centre: param(
    z.number().min(0).default(0),
    "Factor on the squared sum of a pair's scores, which keeps scores around 0; TRL: center_rewards_coefficient.",
  ),
});

function loss(input: ObjectiveInput, { head, pairs, margin, centre }: z.output<typeof params>): Weighed {
  const { batch, weights } = input;
  const scores = column(input.now, headChannel(head), "bradley_terry");
  const { better, worse } = pairsOf(input, pairs);
  const gradient = new Float64Array(weights.length);
  const read = (row: number): number => lastTrained(weights, batch.offsets[row]!, batch.offsets[row + 1]!);
  const share = better.length === 0 ? 0 : 1 / better.length;
  let total = 0;
  let right = 0;
  for (let k = 0; k < better.length; k++) {
    const [a, b] = [read(better[k]!), read(worse[k]!)];
    for (const t of [a, b])
      if (!Number.isFinite(scores[t]!)) throw notFinite(`the score of head ${head}`, scores[t]!, batch, t);
    const [x, sum] = [scores[a]! - scores[b]! - margin, scores[a]! + scores[b]!];
    total += share * (-logSigmoid(x) + centre * sum * sum);
    gradient[a]! += share * (2 * centre * sum - sigmoid(-x));
    gradient[b]! += share * (2 * centre * sum + sigmoid(-x));
    if (scores[a]! > scores[b]!) right += share;
  }
  return {
    loss: total,
    gradients: { [headChannel(head)]: gradient },
    metrics: { "update/pairs": better.length, ...(share === 0 ? {} : { "update/pair_accuracy": right }) },
  };
}

export const bradleyTerry = objective({
  name: "bradley_terry",
  aliases: ["reward_model"],
  summary:
    "A reward model's pairwise loss: a head's score at a response's end should be higher for the better of two.",
  formula: "ℓ = −log σ(r_better − r_worse − margin) + centre · (r_better + r_worse)²",
  sources: [
    "Rank Analysis of Incomplete Block Designs: the Method of Paired Comparisons",
    "Training language models to follow instructions with human feedback",
  ],
  params,
  create: (options): Objective => ({
    channels: [headChannel(options.head)],
    unit: unitOf(options.pairs),
    loss: (input) => loss(input, options),
  }),
});
