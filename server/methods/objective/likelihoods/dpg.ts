import { z } from "zod";
import { rowsOfGroups } from "../../../core/rows/batch.ts";
import { objective, param } from "../../../core/declaration.ts";
import type { Weighed } from "../../../core/policy.ts";
import type { Objective, ObjectiveInput } from "../../../core/loss.ts";
import { anchorParam } from "../anchor.ts";
import { anchorModels, rowMass, rowScores, rowSums } from "../rowLevel.ts";
import { weightedLikelihoodOf } from "./weightedRows.ts";

const params = z.object({
  beta: param(z.number().positive().default(1), "Temperature β of the reward in the target π₀ exp(r/β)."),
  anchor: anchorParam("reference", ": π₀ of the target"),
  over: param(
    z.enum(["group", "batch"]).default("group"),
    "What the target's normaliser Z is estimated over: each task's group, or all rollouts.",
  ),
  baseline: param(z.boolean().default(true), "Subtracts 1, the mean of the weight P/(Zπ_old), from it."),
});

/** Weights P/(Z π_old) of the rows of one part, with logs relative to the part's largest. */
function normalised(rows: readonly number[], logs: Float64Array, into: Float64Array): void {
  const top = rows.reduce((a, row) => Math.max(a, logs[row]!), Number.NEGATIVE_INFINITY);
  const mean = rows.reduce((sum, row) => sum + Math.exp(logs[row]! - top), 0) / rows.length;
  for (const row of rows) into[row] = Math.exp(logs[row]! - top) / mean;
}

function loss(input: ObjectiveInput, { beta, anchor, over, baseline }: z.output<typeof params>): Weighed {
  const toWriter = rowSums(input, "behaviour");
  const toPrior = rowSums(input, anchor);
  const [scores, mass] = [rowScores(input), rowMass(input)];
  const logs = scores.map((score, row) => score / beta + toWriter.value[row]! - toPrior.value[row]!);
  const rows = [...scores.keys()].filter((row) => toWriter.count[row]! > 0 && !Number.isNaN(scores[row]!));
  const known = new Set(rows);
  const parts =
    over === "batch"
      ? [rows]
      : rowsOfGroups(input.batch).map((group) => group.filter((row) => known.has(row)));
  const weight = new Float64Array(input.batch.rows);
  for (const part of parts) if (part.length > 0) normalised(part, logs, weight);
  const effective = rows.reduce((sum, row) => sum + weight[row]!, 0) ** 2;
  const squares = rows.reduce((sum, row) => sum + weight[row]! ** 2, 0);
  const counts = Uint8Array.from(mass, (own, row) => (own !== 0 && known.has(row) ? 1 : 0));
  return weightedLikelihoodOf(
    input,
    (row) => (counts[row] === 1 ? weight[row]! - (baseline ? 1 : 0) : 0),
    squares > 0 ? { "update/ess": effective / squares / rows.length } : {},
  );
}

export const dpg = objective({
  name: "dpg",
  aliases: ["gdc", "forward_kl"],
  summary:
    "Distributional policy gradient: the forward KL from the target π₀ exp(r/β), by importance weights.",
  formula: "∇ℓ = −E[(P/(Zπ_old) − 1) ∇log π], P = π₀ exp(r/β), Z the mean of P/π_old",
  sources: [
    "A Distributional Approach to Controlled Text Generation",
    "RL with KL penalties is better viewed as Bayesian inference",
  ],
  params,
  create: (options): Objective => ({
    channels: ["logp"],
    unit: "group",
    models: anchorModels(options.anchor),
    loss: (input) => loss(input, options),
  }),
});
