import { z } from "zod";
import { rowsOfGroups } from "../../../core/rows/batch.ts";
import { objective, param } from "../../../core/declaration.ts";
import type { Weighed } from "../../../core/policy.ts";
import type { Objective, ObjectiveInput } from "../../../core/loss.ts";
import { betaParam } from "../anchor.ts";
import { sigmoid, softplus } from "../numbers.ts";
import { rowMass, rowSuccess, rowSums, spread, type RowSums } from "../rowLevel.ts";

const params = z.object({
  beta: betaParam(1),
  baseline: param(
    z.enum(["leave_one_out", "group_mean", "none"]).default("leave_one_out"),
    "What is subtracted from a rollout's score: the others' mean, the group's, or nothing.",
  ),
  balance: param(
    z.enum(["task", "none", "only_right", "only_wrong"]).default("task"),
    "task: the right and the wrong answers of a task count equally in total; only_…: the others do not count.",
  ),
});
type Params = z.output<typeof params>;

/** Weights of one group's rows. */
function classWeights(rows: readonly number[], success: Uint8Array, { balance }: Params): number[] {
  const right = rows.filter((row) => success[row] === 1).length;
  const classes = right === 0 || right === rows.length ? 1 : 2;
  return rows.map((row) => {
    const own = success[row] === 1;
    if (balance === "only_right") return own ? 1 : 0;
    if (balance === "only_wrong") return own ? 0 : 1;
    return balance === "none" || classes === 1 ? 1 : rows.length / (2 * (own ? right : rows.length - right));
  });
}

/** Share of each sibling's score in the baseline of another row, and in its own. */
function shares(size: number, { baseline }: Params): { others: number; own: number } {
  if (baseline === "none") return { others: 0, own: 0 };
  return baseline === "group_mean" ? { others: 1 / size, own: 1 / size } : { others: 1 / (size - 1), own: 0 };
}

function loss(input: ObjectiveInput, options: Params): Weighed {
  const sums: RowSums = rowSums(input, "behaviour");
  const [success, mass] = [rowSuccess(input), rowMass(input)];
  const slopes = new Float64Array(input.batch.rows);
  let total = 0;
  for (const group of rowsOfGroups(input.batch)) {
    const rows = group.filter((row) => sums.count[row]! > 0 && success[row] !== 2);
    // Alone a rollout has no baseline of others, and its score says nothing.
    if (rows.length < 2 && options.baseline !== "none") continue;
    const weights = classWeights(rows, success, options);
    const { others, own } = shares(rows.length, options);
    const sum = rows.reduce((acc, row) => acc + sums.value[row]!, 0);
    const errors = rows.map((row, i) => {
      const score = sums.value[row]!;
      const psi = options.beta * (score - others * (sum - score) - own * score);
      const label = success[row] === 1 ? 1 : 0;
      const weight = mass[row]! * weights[i]!;
      total += weight * (softplus(psi) - label * psi);
      return weight * (sigmoid(psi) - label);
    });
    const all = errors.reduce((a, b) => a + b, 0);
    rows.forEach((row, i) => {
      const error = errors[i]!;
      slopes[row] = options.beta * (error * (1 - own) - others * (all - error));
    });
  }
  return { loss: total, gradients: { logp: spread(slopes, sums, input) } };
}

export const pacs = objective({
  name: "pacs",
  summary:
    "Predicts whether an answer is right from its log-ratio relative to its siblings': actor and critic in one cross-entropy.",
  formula: "ℓ = BCE(σ(ψ), right), ψ_i = s_i − mean_{j≠i} s_j, s = β Σ (log π − log π_old)",
  sources: ["Implicit Actor Critic Coupling via a Supervised Learning Framework for RLVR"],
  params,
  create: (options): Objective => ({
    channels: ["logp"],
    unit: "group",
    loss: (input) => loss(input, options),
  }),
});
