import { z } from "zod";
import { rowsOfGroups } from "../../../core/rows/batch.ts";
import { objective, param } from "../../../core/declaration.ts";
import type { Objective, ObjectiveInput } from "../../../core/loss.ts";
import { anchorParam, betaParam } from "../anchor.ts";
import { anchorModels, rowAdvantages } from "../rowLevel.ts";
import { spanRegression } from "./spanRegression.ts";

/** Groups whose advantages say little are left out; the others keep their share. */
function spreadEnough(input: ObjectiveInput, least: number): ObjectiveInput {
  if (least <= 0) return input;
  const { batch, weights } = input;
  const advantages = rowAdvantages(input);
  const kept = weights.slice();
  for (const rows of rowsOfGroups(batch)) {
    const known = rows.map((row) => advantages[row]!).filter((value) => !Number.isNaN(value));
    if (known.length > 0 && Math.max(...known) - Math.min(...known) >= least) continue;
    for (const row of rows) kept.fill(0, batch.offsets[row]!, batch.offsets[row + 1]!);
  }
  return { ...input, weights: kept, factors: input.factors.map((factor, t) => (kept[t] === 0 ? 0 : factor)) };
}

export const directAdvantage = objective({
  name: "direct_advantage",
  summary:
    "Regresses each step's log-ratio to the reference on its advantage over β; not the clipped loss called DAPO.",
  formula: "ℓ = ½ (A / β − Σ_step log π/π_ref)²",
  sources: [
    "Improving Multi-Step Reasoning Abilities of Large Language Models with Direct Advantage Policy Optimization",
  ],
  params: z.object({
    beta: betaParam(0.1),
    anchor: anchorParam("reference"),
    level: param(
      z.enum(["response", "turn", "step", "token"]).default("step"),
      "The unit that has an advantage.",
    ),
    min_spread: param(
      z.number().min(0).default(0),
      "Groups whose advantages differ by less than this do not train; the paper: 0.1.",
    ),
  }),
  create: ({ beta, anchor, level, min_spread }): Objective => ({
    channels: ["logp"],
    unit: "group",
    models: anchorModels(anchor),
    loss: (input) =>
      spanRegression(spreadEnough(input, min_spread), {
        beta,
        anchor,
        level,
        factor: beta ** -2,
        shape: "squared",
      }),
  }),
});
