import { z } from "zod";
import { UserError } from "../../../../shared/lib/errors.ts";
import { objective, param } from "../../../core/declaration.ts";
import type { Weighed } from "../../../core/policy.ts";
import type { Objective, ObjectiveInput } from "../../../core/loss.ts";
import { anchorParam, betaParam } from "../anchor.ts";
import { sigmoid } from "../numbers.ts";
import { anchorModels, rowMass, rowSuccess, rowSums, spread, type RowSums } from "../rowLevel.ts";

const params = z
  .object({
    beta: betaParam(0.1),
    anchor: anchorParam("reference"),
    desirable: param(z.number().min(0).default(1), "Weight of rollouts that succeed."),
    undesirable: param(z.number().min(0).default(1), "Weight of rollouts that fail."),
    kl: param(
      z.enum(["mismatched", "batch", "none"]).default("mismatched"),
      "The reference point z₀, at least 0, held constant. mismatched: the mean log-ratio of each prompt with another prompt's response (the paper; two more forward passes); batch: the mean log-ratio of the responses themselves, an estimate only on fresh rollouts; none: 0 (apo_zero_unpaired).",
    ),
  })
  .refine(({ kl, anchor }) => kl !== "mismatched" || anchor !== "behaviour", {
    path: ["kl"],
    message: "`mismatched` needs an `anchor` that can read other responses: `reference`, or a model",
  });

/** The mean log-ratio of the rows that train, at least 0. */
function divergence({ value, count }: RowSums): number {
  let sum = 0;
  let rows = 0;
  for (let row = 0; row < value.length; row++) {
    if (count[row] === 0) continue;
    sum += value[row]!;
    rows += 1;
  }
  return rows === 0 ? 0 : Math.max(0, sum / rows);
}

/** Log-ratios of responses conditioned on other prompts; a row that has none does not count. */
function mismatched({ batch }: ObjectiveInput, { scale, count }: RowSums): RowSums {
  const value = batch.rowColumns?.mismatched_log_ratio;
  if (value === undefined)
    throw new UserError(
      "kto compares with responses conditioned on other prompts, and the rollouts record none",
      {
        code: "mismatched-missing",
        action: "Record `mismatched_log_ratio` with each rollout, or set the objective's `kl: batch`.",
      },
    );
  return { value, scale, count: count.map((tokens, row) => (Number.isNaN(value[row]!) ? 0 : tokens)) };
}

function loss(input: ObjectiveInput, options: z.output<typeof params>): Weighed {
  const { beta, anchor, desirable, undesirable } = options;
  const sums = rowSums(input, anchor);
  const point =
    options.kl === "none" ? 0 : divergence(options.kl === "batch" ? sums : mismatched(input, sums));
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
    "Each answer alone is good or bad: prospect theory's value of its log-ratio, relative to that of answers to other prompts.",
  formula: "ℓ = λ (1 − σ(±β(Δ − z₀))), + where it succeeds, z₀ = max(0, mean Δ(x_i, y_j≠i)) held constant",
  sources: ["KTO: Model Alignment as Prospect Theoretic Optimization"],
  params,
  create: (options): Objective => ({
    channels: ["logp"],
    unit: "sequence",
    models: anchorModels(options.anchor),
    needs: options.kl === "mismatched" ? { mismatched: options.anchor } : {},
    loss: (input) => loss(input, options),
  }),
});
