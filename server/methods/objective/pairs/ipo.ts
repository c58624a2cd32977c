import { z } from "zod";
import { objective, param } from "../../../core/declaration.ts";
import { anchorParam, betaParam } from "../anchor.ts";
import { divergenceParam, scored } from "./divergence.ts";
import { pairing } from "../../../core/slots/objective.ts";
import { pairwise } from "./pairs.ts";
import { rowSums } from "../rowLevel.ts";

export const ipo = objective({
  name: "ipo",
  summary: "The margin between the log-ratios of a chosen and a rejected answer is regressed on a constant.",
  formula: "ℓ = (Δ_chosen − Δ_rejected − 1/(2β))², Δ = Σ log π/π_ref",
  sources: ["A General Theoretical Paradigm to Understand Learning from Human Preferences"],
  params: z.object({
    beta: betaParam(0.1),
    anchor: anchorParam("reference"),
    pairs: pairing(),
    divergence: divergenceParam,
    normalise: param(
      z.boolean().default(false),
      "Divides each log-ratio by its answer's trained tokens, as TRL's `ipo` does.",
    ),
  }),
  create: ({ beta, divergence, normalise, ...compared }) =>
    pairwise(
      compared,
      (a, b) => {
        const residual = a - b - 1 / (2 * beta);
        return { loss: residual * residual, better: 2 * residual, worse: -2 * residual };
      },
      (input) => scored(rowSums(input, compared.anchor), divergence, normalise),
    ),
});
