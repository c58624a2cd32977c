import { z } from "zod";
import { objective, param } from "../../../core/declaration.ts";
import type { Weighed } from "../../../core/policy.ts";
import type { Objective, ObjectiveInput } from "../../../core/loss.ts";
import { column } from "../column.ts";
import { checkLoss } from "../finite.ts";
import { anchorColumn, anchorModels, anchorParam } from "./ratioAnchor.ts";

const shape = z.number().min(0);
const params = z.object({
  k_pos: param(shape.default(2), "k where the advantage is not negative."),
  lambda_pos: param(shape.default(3), "λ where the advantage is not negative."),
  k_neg: param(shape.default(3), "k where it is negative."),
  lambda_neg: param(shape.default(2), "λ where it is negative."),
  anchor: anchorParam,
});
type Vespo = z.output<typeof params>;

/** Bounds on log-ratios, as in the released code. */
const [lowest, widest] = [Math.log(1e-8), 20];
const within = (value: number, low: number, high: number): number => Math.min(high, Math.max(low, value));

function phi(log: number, advantage: number, options: Vespo): number {
  const [k, lambda] =
    advantage >= 0 ? [options.k_pos, options.lambda_pos] : [options.k_neg, options.lambda_neg];
  const steep = Math.max(lambda, 1e-4);
  return Math.exp(steep + k * log - steep * Math.exp(log));
}

/** log of the response's ratio, corrections included. */
function rowLog(
  { weights, correction }: ObjectiveInput,
  now: Float64Array,
  anchor: Float64Array,
  from: number,
  to: number,
): number {
  let log = 0;
  for (let i = from; i < to; i++) {
    if (weights[i] === 0) continue;
    log += within(now[i]! - anchor[i]!, -widest, widest);
    if (correction !== undefined) log += within(Math.log(correction[i]!), lowest, widest);
  }
  return within(log, lowest, widest);
}

function loss(input: ObjectiveInput, options: Vespo): Weighed {
  const { batch, advantages, factors, weights } = input;
  const now = column(input.now, "logp", "the objective");
  const anchor = anchorColumn(input, options.anchor);
  const gradient = new Float64Array(now.length);
  let total = 0;
  let sum = 0;
  let trained = 0;
  for (let row = 0; row < batch.rows; row++) {
    const [from, to] = [batch.offsets[row]!, batch.offsets[row + 1]!];
    const log = rowLog(input, now, anchor, from, to);
    for (let i = from; i < to; i++) {
      if (weights[i] === 0) continue;
      const weight = phi(log, advantages[i]!, options);
      sum += weight;
      trained += 1;
      if (advantages[i] === 0) continue;
      gradient[i] = -factors[i]! * advantages[i]! * weight;
      total += gradient[i]! * now[i]!;
    }
  }
  checkLoss(total, input, { logp: now, [`the log-prob of ${options.anchor}`]: anchor });
  return {
    loss: total,
    gradients: { logp: gradient },
    metrics: trained === 0 ? {} : { "update/weight_mean": sum / trained },
  };
}

export const vespo = objective({
  name: "vespo",
  summary:
    "The policy gradient weighted by a gamma-shaped function of the whole response's ratio, without gradient.",
  formula:
    "ℓ = −sg(φ(w)) A log π, φ(w) = e^λ w^k e^(−λ w), w = Π_t π/π_anchor (times the corrections), k and λ by the sign of A",
  sources: [
    "VESPO: Variational Sequence-Level Soft Policy Optimization for Stable Off-Policy LLM Training",
    "TRL 1.16",
  ],
  params,
  create: (params): Objective => ({
    channels: ["logp"],
    unit: "sequence",
    models: anchorModels(params.anchor),
    needs: { correction: true },
    loss: (input) => loss(input, params),
  }),
});
