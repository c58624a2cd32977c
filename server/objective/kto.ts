import { z } from "zod";
import { objective } from "../config/declaration.ts";
import type { Objective, ObjectiveInput, Weighed } from "../seams.ts";
import { anchorParam, betaParam } from "./anchor.ts";
import { sigmoid } from "./numbers.ts";
import { anchorModels, rowMass, rowSuccess, rowSums, spread, type RowSums } from "./rowLevel.ts";

const params = z.object({
  beta: betaParam(0.1),
  anchor: anchorParam("reference"),
  desirable: z.number().min(0).default(1).describe("Weight of rollouts that succeed."),
  undesirable: z.number().min(0).default(1).describe("Weight of rollouts that fail."),
  kl: z
    .enum(["batch", "none"])
    .default("batch")
    .describe(
      "batch: the point of reference is the batch's mean log-ratio, at least 0, held constant; none: 0 (apo_zero_unpaired).",
    ),
});

/** The mean log-ratio of the rows that train, at least 0. */
function divergence({ value, count }: RowSums): number {
  let [sum, rows] = [0, 0];
  for (let row = 0; row < value.length; row++) {
    if (count[row] === 0) continue;
    sum += value[row]!;
    rows += 1;
  }
  return rows === 0 ? 0 : Math.max(0, sum / rows);
}

function loss(input: ObjectiveInput, options: z.output<typeof params>): Weighed {
  const { beta, anchor, desirable, undesirable } = options;
  const sums = rowSums(input, anchor);
  const point = options.kl === "batch" ? divergence(sums) : 0;
  const [success, mass] = [rowSuccess(input), rowMass(input)];
  const slopes = new Float64Array(input.batch.rows);
  let total = 0;
  for (let row = 0; row < slopes.length; row++) {
    if (sums.count[row] === 0 || success[row] === 2) continue;
    const sign = success[row] === 1 ? 1 : -1;
    const weight = mass[row]! * (sign > 0 ? desirable : undesirable);
    const value = sigmoid(sign * beta * (sums.value[row]! - point));
    total += weight * (1 - value);
    slopes[row] = -weight * sign * beta * value * (1 - value);
  }
  return {
    loss: total,
    gradients: { logp: spread(slopes, sums, input) },
    metrics: { "update/kto_kl": point },
  };
}

export const kto = objective({
  name: "kto",
  summary:
    "Each answer alone is good or bad: prospect theory's value of its log-ratio against the batch's mean.",
  formula: "ℓ = λ (1 − σ(±β(Δ − z₀))), + where it succeeds, z₀ = max(0, mean Δ) held constant",
  sources: ["KTO: Model Alignment as Prospect Theoretic Optimization"],
  status: "approximate",
  params,
  create: (options): Objective => ({
    channels: ["logp"],
    unit: "sequence",
    models: anchorModels(options.anchor),
    loss: (input) => loss(input, options),
  }),
});
