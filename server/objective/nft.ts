import { z } from "zod";
import { UserError } from "../../shared/errors.ts";
import { rowsOfGroups } from "../batch.ts";
import { objective } from "../config/declaration.ts";
import type { Objective, ObjectiveInput, Weighed } from "../seams.ts";
import { column } from "./column.ts";
import { checkLoss } from "./finite.ts";
import { clamped } from "./numbers.ts";
import { rowMass, rowSums, spread } from "./rowLevel.ts";

const params = z.object({
  weight: z
    .enum(["dr_grpo", "grpo", "none"])
    .default("dr_grpo")
    .describe(
      "Weight of a task of success rate r: 1 − r (the released code), √((1 − r)/r) (as GRPO with its spread), or 1.",
    ),
  negative: z
    .number()
    .min(0)
    .default(1)
    .describe("Factor on the loss of wrong answers; 0: rejection sampling."),
  epsilon: z
    .number()
    .gt(0)
    .default(1)
    .describe(
      "Least value of the implicit negative ratio, its gradient passed straight through; the released code: 1.",
    ),
  positive_epsilon: z.number().min(0).default(0).describe("The same of right answers' ratio."),
  low: z.number().gt(0).lt(1).default(0.02).describe("Least success rate."),
  high: z.number().gt(0).lt(1).default(0.98).describe("Greatest success rate."),
  ratio: z
    .enum(["token", "response"])
    .default("token")
    .describe("Whether each token or the whole response has a ratio."),
});
type Params = z.output<typeof params>;
/** Log-ratios beyond this are cut, as in the released code. */
const largest = 10;

/** Per row: the success rate of its group, clamped; NaN where all or none succeed, or nobody knows. */
function rates({ batch, success }: ObjectiveInput, { low, high }: Params): Float64Array {
  if (success === undefined || success.every((value) => value === 2))
    throw new UserError("nft needs to know which rollouts succeed, and none of them says", {
      code: "success-missing",
      action: "Record rewards with the rollouts; `reward.success` says which of them count as solved.",
    });
  const result = new Float64Array(batch.rows).fill(Number.NaN);
  for (const rows of rowsOfGroups(batch)) {
    const known = rows.filter((row) => success[row] !== 2);
    const right = known.filter((row) => success[row] === 1).length;
    if (right === 0 || right === known.length) continue;
    for (const row of known) result[row] = clamped(right / known.length, low, high);
  }
  return result;
}

/** What the logarithm is taken of: the ratio of a right answer, or the one that a wrong one implies; at least a floor. */
function floored(log: number, right: boolean, rate: number, options: Params): number {
  const ratio = Math.exp(Math.min(log, largest));
  return right
    ? Math.max(ratio, options.positive_epsilon)
    : Math.max((1 - rate * ratio) / (1 - rate), options.epsilon);
}
const lossOf = (log: number, right: boolean, rate: number, options: Params): number =>
  -(right ? 1 : options.negative) * Math.log(floored(log, right, rate, options));
/** Its derivative by the log-ratio; floors have straight-through gradients. */
function slopeOf(log: number, right: boolean, rate: number, options: Params): number {
  const slope = log > largest ? 0 : Math.exp(log);
  const below = floored(log, right, rate, options);
  return right ? -slope / below : (options.negative * rate * slope) / ((1 - rate) * below);
}

const priority = (rate: number, { weight }: Params): number =>
  weight === "none" ? 1 : weight === "dr_grpo" ? 1 - rate : Math.sqrt((1 - rate) / rate);

function loss(input: ObjectiveInput, options: Params): Weighed {
  const { batch, success, weights, factors } = input;
  const now = column(input.now, "logp", "the objective");
  const old = column(input.old, "logp", "the objective");
  const rate = rates(input, options);
  if (options.ratio === "response") return responseLoss(input, rate, options);
  const gradient = new Float64Array(weights.length);
  let total = 0;
  for (let row = 0; row < batch.rows; row++) {
    if (Number.isNaN(rate[row]!)) continue;
    const scale = priority(rate[row]!, options);
    const right = success![row] === 1;
    for (let t = batch.offsets[row]!; t < batch.offsets[row + 1]!; t++) {
      if (weights[t] === 0) continue;
      const log = now[t]! - old[t]!;
      total += scale * factors[t]! * lossOf(log, right, rate[row]!, options);
      gradient[t] = scale * factors[t]! * slopeOf(log, right, rate[row]!, options);
    }
  }
  checkLoss(total, input, { "the policy's log-prob": now, logp_old: old });
  return { loss: total, gradients: { logp: gradient } };
}

function responseLoss(input: ObjectiveInput, rate: Float64Array, options: Params): Weighed {
  const sums = rowSums(input, "behaviour");
  const mass = rowMass(input);
  let total = 0;
  const slopes = mass.map((own, row) => {
    if (Number.isNaN(rate[row]!) || sums.count[row] === 0) return 0;
    const share = own * priority(rate[row]!, options);
    const right = input.success![row] === 1;
    total += share * lossOf(sums.value[row]!, right, rate[row]!, options);
    return share * slopeOf(sums.value[row]!, right, rate[row]!, options);
  });
  return { loss: total, gradients: { logp: spread(slopes, sums, input) } };
}

export const nft = objective({
  name: "nft",
  summary:
    "Supervised learning on right answers, and on wrong ones through the policy they imply: negative-aware fine-tuning.",
  formula:
    "right: −log R; wrong: −log max(ε, (1 − rR)/(1 − r)); R = π/π_old, r the task's success rate; times the task's weight",
  sources: ["Bridging Supervised Learning and Reinforcement Learning in Math Reasoning"],
  params,
  create: (options): Objective => ({
    channels: ["logp"],
    unit: "group",
    loss: (input) => loss(input, options),
  }),
});
