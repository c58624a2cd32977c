import { z } from "zod";
import { objective, param } from "../../../core/declaration.ts";
import { log1mexp, logSigmoid, sigmoid } from "../numbers.ts";
import { pairing } from "../../../core/slots/objective.ts";
import { pairwise } from "./pairs.ts";
import { rowSums } from "../rowLevel.ts";

/** The mean log-prob is kept this far below 0: at 0 the odds are infinite. */
const certain = -1e-9;

/** log(p / (1 − p)) of a mean log-prob, and its derivative by it. */
function logOdds(mean: number): [number, number] {
  const x = Math.min(mean, certain);
  return [x - log1mexp(x), mean > certain ? 0 : -1 / Math.expm1(x)];
}

export const orpo = objective({
  name: "orpo",
  summary:
    "Likelihood of the better answer plus a logistic loss on the odds of better against worse; needs no reference.",
  formula: "ℓ = −p_b − λ log σ(log odds p_b − log odds p_w), p = mean log π, odds = e^p / (1 − e^p)",
  sources: [
    "ORPO: Monolithic Preference Optimization without Reference Model",
    "PRefLexOR: Preference-based Recursive Language Modeling for Exploratory Optimization of Reasoning and Agentic Thinking",
  ],
  params: z.object({
    lambda: param(z.number().min(0).default(0.1), "Factor on the odds-ratio loss; TRL calls it `beta`."),
    sft: param(z.number().min(0).default(1), "Factor on the better answer's negative log-likelihood."),
    pairs: pairing(),
  }),
  create: ({ lambda, sft, pairs }) =>
    pairwise(
      { anchor: "none", pairs },
      (a, b) => {
        const [[better, byBetter], [worse, byWorse]] = [logOdds(a), logOdds(b)];
        const pull = lambda * sigmoid(worse - better);
        return {
          loss: -sft * a - lambda * logSigmoid(better - worse),
          better: -sft - pull * byBetter,
          worse: pull * byWorse,
        };
      },
      (input) => rowSums(input, "none", true),
    ),
});
