import { z } from "zod";
import { rowsOfGroups } from "../../../core/rows/batch.ts";
import { objective, param } from "../../../core/declaration.ts";
import type { Weighed } from "../../../core/policy.ts";
import type { Objective, ObjectiveInput } from "../../../core/loss.ts";
import { anchorParam, betaParam } from "../anchor.ts";
import { divergenceParam, scored } from "./divergence.ts";
import { logSigmoid, logSumExp, sigmoid } from "../numbers.ts";
import { pairing } from "../../../core/slots/objective.ts";
import { overPairs, pairsOf, unitOf } from "./pairs.ts";
import { anchorModels, rowScores, rowSums, spread, type RowSums } from "../rowLevel.ts";

const params = z.object({
  beta: betaParam(0.1),
  anchor: anchorParam("reference"),
  over: param(
    z.enum(["pair", "group"]).default("pair"),
    "pair: a better and a worse answer (EXO-pref); group: all answers of a group, with a target from their rewards (EXO-rw).",
  ),
  pairs: pairing(),
  label_smoothing: param(
    z.number().gt(0).lt(0.5).default(0.001),
    "Over pairs: probability ε of the worse answer under the label.",
  ),
  reward_beta: param(
    z.number().positive().default(1),
    "Over groups: β_r of the target softmax(r / β_r); a small value targets the best answer alone.",
  ),
  divergence: divergenceParam,
});
type Params = z.output<typeof params>;

function overTwo(input: ObjectiveInput, sums: RowSums, options: Params): Weighed {
  const { beta, pairs, label_smoothing: flipped } = options;
  const [likely, unlikely] = [Math.log1p(-flipped), Math.log(flipped)];
  return overPairs(input, pairsOf(input, pairs), sums, (a, b) => {
    const x = beta * (sums.value[a]! - sums.value[b]!);
    const [right, wrong] = [sigmoid(x), sigmoid(-x)];
    const [forRight, forWrong] = [logSigmoid(x) - likely, logSigmoid(-x) - unlikely];
    const slope = beta * right * wrong * (forRight - forWrong);
    return { loss: right * forRight + wrong * forWrong, better: slope, worse: -slope };
  });
}

/** log softmax of some rows' values times a factor. */
function logShares(values: Float64Array, rows: readonly number[], factor: number): Float64Array {
  const logits = Float64Array.from(rows, (row) => factor * values[row]!);
  const all = logSumExp(logits);
  return logits.map((logit) => logit - all);
}

function overGroups(input: ObjectiveInput, sums: RowSums, { beta, reward_beta }: Params): Weighed {
  const scores = rowScores(input);
  const groups = rowsOfGroups(input.batch)
    .map((rows) => rows.filter((row) => !Number.isNaN(scores[row]!)))
    .filter((rows) => rows.length > 1);
  const slopes = new Float64Array(input.batch.rows);
  let loss = 0;
  for (const rows of groups) {
    const own = logShares(sums.value, rows, beta);
    const target = logShares(scores, rows, 1 / reward_beta);
    const surprise = own.map((log, i) => log - target[i]!);
    const divergence = own.reduce((sum, log, i) => sum + Math.exp(log) * surprise[i]!, 0);
    loss += divergence / groups.length;
    rows.forEach((row, i) => {
      slopes[row] = (beta * Math.exp(own[i]!) * (surprise[i]! - divergence)) / groups.length;
    });
  }
  return {
    loss,
    gradients: { logp: spread(slopes, sums, input) },
    metrics: { "update/groups_compared": groups.length },
  };
}

export const exo = objective({
  name: "exo",
  aliases: ["exo_pair"],
  summary:
    "Reverse KL between the policy's preference over some answers and a target, where DPO uses forward KL. The target is a smoothed label over a pair, or the softmax of rewards over a whole group.",
  formula:
    "ℓ = KL(q ‖ p), q = softmax(β log π/π_ref) over the answers; p = (1 − ε, ε) over a pair, softmax(r / β_r) over a group",
  sources: ["Towards Efficient Exact Optimization of Language Model Alignment"],
  params,
  create: (options): Objective => ({
    channels: ["logp"],
    unit: options.over === "group" ? "group" : unitOf(options.pairs),
    models: anchorModels(options.anchor),
    loss(input) {
      const sums = scored(rowSums(input, options.anchor), options.divergence);
      return options.over === "group" ? overGroups(input, sums, options) : overTwo(input, sums, options);
    },
  }),
});
