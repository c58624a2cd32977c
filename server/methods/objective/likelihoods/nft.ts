import { z } from "zod";
import { UserError } from "../../../../shared/lib/errors.ts";
import { rowsOfGroups } from "../../../core/rows/batch.ts";
import { objective, param } from "../../../core/declaration.ts";
import { exp, log } from "../../../lib/exponential.ts";
import { inParts } from "../../../core/rows/batchParts.ts";
import type { LossSlice, RunningLoss, WholeInput } from "../../../core/loss.ts";
import { column } from "../column.ts";
import { checkLoss } from "../finite.ts";
import { atLeast, clamped } from "../numbers.ts";
import { rowMass, rowSums, spread } from "../rowLevel.ts";
import { exponentialsInto, logRatiosInto, Scratch } from "../tokenLoops.ts";

const params = z.object({
  weight: param(
    z.enum(["dr_grpo", "grpo", "none"]).default("dr_grpo"),
    "Weight of a task of success rate r: 1 − r (the released code), √((1 − r)/r) (as GRPO with its spread), or 1.",
  ),
  negative: param(
    z.number().min(0).default(1),
    "Factor on the loss of wrong answers; 0: rejection sampling.",
  ),
  epsilon: param(
    z.number().gt(0).default(1),
    "Lower bound on the implicit negative ratio, with a straight-through gradient; the released code: 1.",
  ),
  positive_epsilon: param(z.number().min(0).default(0), "The same bound on the ratio of right answers."),
  low: param(z.number().gt(0).lt(1).default(0.02), "Lower bound on the success rate."),
  high: param(z.number().gt(0).lt(1).default(0.98), "Upper bound on the success rate."),
  ratio: param(
    z.enum(["token", "response"]).default("token"),
    "Whether the ratio is of each token or of the whole response.",
  ),
});
type Params = z.output<typeof params>;
/** Log-ratios beyond this are cut, as in the released code. */
const largest = 10;

/** Per row: the success rate of its group, clamped; NaN where all or none succeed, or where it is unknown. */
function rates({ batch, success }: WholeInput, { low, high }: Params): Float64Array {
  if (success === undefined || success.every((value) => value === 2))
    throw new UserError("nft needs to know which rollouts succeed, and no rollout records it", {
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

const priority = (rate: number, { weight }: Params): number =>
  weight === "none" ? 1 : weight === "dr_grpo" ? 1 - rate : Math.sqrt((1 - rate) / rate);

/** An answer of a task whose success rate is `rate`, the task's weight and the answer's factor multiplied. */
interface WeightedAnswer {
  readonly right: boolean;
  readonly rate: number;
  readonly weight: number;
}
const answerOf = (right: boolean, rate: number, options: Params): WeightedAnswer => ({
  right,
  rate,
  weight: (right ? 1 : options.negative) * priority(rate, options),
});

/** By token or by row. */
interface NftTerms {
  /** log R, cut at the largest. */
  readonly logs: Float64Array;
  /** Place for R. */
  readonly ratios: Float64Array;
  /** Of the loss. */
  readonly shares: Float64Array;
  /** Where the derivatives by the log-ratios are written. */
  readonly slopes: Float64Array;
}

/** Of terms [from, to). Floors have straight-through gradients; a share of 0 is passed over. */
const answerLoss = (
  terms: NftTerms,
  { right, rate, weight }: WeightedAnswer,
  { positive_epsilon, epsilon }: Params,
  from: number,
  to: number,
): number =>
  right
    ? rightLoss(terms, weight, positive_epsilon, from, to)
    : wrongLoss(terms, weight, rate, epsilon, from, to);

/** Σ share · −log max(floor, R). */
function rightLoss(
  { logs, shares, slopes }: NftTerms,
  weight: number,
  floor: number,
  from: number,
  to: number,
): number {
  const least = Math.log(floor);
  let loss = 0;
  for (let i = from; i < to; i++) {
    const share = weight * shares[i]!;
    if (share === 0) continue;
    const x = logs[i]!;
    loss -= share * Math.max(x, least);
    slopes[i] = x === largest ? 0 : x < least ? -share * exp(x - least) : -share;
  }
  return loss;
}

/** Σ share · −log max(floor, (1 − rR) / (1 − r)): of the policy that would write only wrong answers. */
function wrongLoss(
  { logs, ratios, shares, slopes }: NftTerms,
  weight: number,
  rate: number,
  floor: number,
  from: number,
  to: number,
): number {
  const wrong = 1 - rate;
  exponentialsInto(ratios, logs, from, to);
  let loss = 0;
  for (let i = from; i < to; i++) {
    const share = weight * shares[i]!;
    if (share === 0) continue;
    const part = rate * ratios[i]!;
    const implied = atLeast((1 - part) / wrong, floor);
    loss -= share * log(implied);
    slopes[i] = logs[i] === largest ? 0 : (share * part) / (wrong * implied);
  }
  return loss;
}

function start(whole: WholeInput, options: Params): RunningLoss {
  const rate = rates(whole, options);
  const add = options.ratio === "response" ? responseLoss : tokenLoss;
  const space = { logs: new Scratch(), ratios: new Scratch() };
  return {
    add: (part) =>
      add(part, space, (terms, row, from, to) => {
        const at = part.first + row;
        if (Number.isNaN(rate[at]!)) return 0;
        const answer = answerOf(whole.success?.[at] === 1, rate[at]!, options);
        return answerLoss(terms, answer, options, from, to);
      }),
    result: () => ({}),
  };
}
/** The loss of a row's terms. */
type RowLoss = (terms: NftTerms, row: number, from: number, to: number) => number;

type Space = Readonly<Record<"logs" | "ratios", Scratch>>;

function tokenLoss(part: LossSlice, { logs, ratios }: Space, rowLoss: RowLoss): number {
  const { rows, offsets } = part.batch;
  const now = column(part.now, "logp", "the objective");
  const old = column(part.old, "logp", "the objective");
  const terms = {
    logs: logs.of(now.length),
    ratios: ratios.of(now.length),
    shares: part.factors,
    slopes: part.gradientOf("logp"),
  };
  let loss = 0;
  for (let row = 0; row < rows; row++) {
    const [from, to] = [offsets[row]!, offsets[row + 1]!];
    logRatiosInto(terms.logs, now, old, Number.NEGATIVE_INFINITY, largest, from, to);
    loss += rowLoss(terms, row, from, to);
  }
  checkLoss(loss, part, { "the policy's log-prob": now, logp_old: old });
  return loss;
}

function responseLoss(part: LossSlice, _: Space, rowLoss: RowLoss): number {
  const sums = rowSums(part, "behaviour");
  const shares = rowMass(part);
  const terms = {
    logs: sums.value.map((value) => Math.min(value, largest)),
    ratios: new Float64Array(shares.length),
    shares,
    slopes: new Float64Array(shares.length),
  };
  let loss = 0;
  for (let row = 0; row < shares.length; row++)
    if (sums.count[row] !== 0) loss += rowLoss(terms, row, row, row + 1);
  spread(terms.slopes, sums, part, part.gradientOf("logp"));
  return loss;
}

export const nft = objective({
  name: "nft",
  summary:
    "Negative-aware fine-tuning: supervised learning on right answers, and on wrong ones through the negative policy that they imply.",
  formula:
    "right: −log R; wrong: −log max(ε, (1 − rR)/(1 − r)); R = π/π_old, r the task's success rate; times the task's weight",
  sources: ["Bridging Supervised Learning and Reinforcement Learning in Math Reasoning"],
  params,
  create: (options) => inParts({ channels: ["logp"], unit: "group" }, (whole) => start(whole, options)),
});
