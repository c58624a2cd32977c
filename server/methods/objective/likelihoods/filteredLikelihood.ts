import { z } from "zod";
import { rowsOfGroups } from "../../../core/rows/batch.ts";
import { schedulable, valueAt } from "../../../core/schedule.ts";
import { objective, param } from "../../../core/declaration.ts";
import type { Weighed } from "../../../core/policy.ts";
import type { Objective, ObjectiveInput } from "../../../core/loss.ts";
import { rowMass, rowScores, rowSuccess } from "../rowLevel.ts";
import { weightedLikelihoodOf } from "./weightedRows.ts";

const params = z.object({
  keep: param(
    z.enum(["above", "best", "shortest"]).default("above"),
    "above: rollouts whose reward is above `threshold`; best: the best of each group; shortest: the shortest success of each group.",
  ),
  threshold: param(
    schedulable(z.number()).default(0),
    "Rewards must be above this; a schedule can raise it from round to round.",
  ),
  normalise: param(
    z.enum(["kept", "all"]).default("kept"),
    "Whether the mean is over the rollouts that are kept or over all of them.",
  ),
});

function keptRows(input: ObjectiveInput, { keep, threshold }: z.output<typeof params>): Uint8Array {
  const { batch, clock } = input;
  const scores = rowScores(input);
  const least = valueAt(threshold, clock ?? { step: 0, stageStep: 0 });
  if (keep === "above") return Uint8Array.from(scores, (score) => (score > least ? 1 : 0));
  const kept = new Uint8Array(batch.rows);
  const success = rowSuccess(input);
  const length = (row: number): number => batch.offsets[row + 1]! - batch.offsets[row]!;
  for (const rows of rowsOfGroups(batch)) {
    const known = rows.filter(
      (row) => !Number.isNaN(scores[row]!) && (keep === "best" ? scores[row]! > least : success[row] === 1),
    );
    if (known.length === 0) continue;
    const better = (a: number, b: number): boolean =>
      keep === "best" ? scores[b]! > scores[a]! : length(b) < length(a);
    kept[known.reduce((a, b) => (better(a, b) ? b : a))] = 1;
  }
  return kept;
}

function loss(input: ObjectiveInput, options: z.output<typeof params>): Weighed {
  const kept = keptRows(input, options);
  const mass = rowMass(input);
  const total = mass.reduce((a, b) => a + b, 0);
  const left = mass.reduce((sum, one, row) => sum + (kept[row] === 1 ? one : 0), 0);
  const scale = options.normalise === "all" || left === 0 ? 1 : total / left;
  return weightedLikelihoodOf(input, (row) => (kept[row] === 1 ? scale : 0), {
    "update/kept_rollouts": kept.reduce((sum, one, row) => sum + (mass[row] === 0 ? 0 : one), 0),
  });
}

export const filteredLikelihood = objective({
  name: "filtered_likelihood",
  aliases: ["rest", "rft", "raft", "rejection_sampling", "filtered_sft"],
  summary: "Likelihood of only the rollouts that pass a filter: rejection sampling, expert iteration.",
  formula: "ℓ = −1[R > τ] log π",
  sources: [
    "Reinforced Self-Training (ReST) for Language Modeling",
    "RAFT: Reward rAnked FineTuning for Generative Foundation Model Alignment",
    "Scaling Relationship on Learning Mathematical Reasoning with Large Language Models",
  ],
  params,
  create: (options): Objective => ({
    channels: ["logp"],
    unit: options.keep === "above" ? "sequence" : "group",
    loss: (input) => loss(input, options),
  }),
});
