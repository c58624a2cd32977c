import { z } from "zod";
import { objective, param } from "../../../core/declaration.ts";
import { anchorParam, betaParam } from "../anchor.ts";
import { sigmoid } from "../numbers.ts";
import { pairing } from "../../../core/slots/objective.ts";
import { pairwise, type PairLoss } from "./pairs.ts";

/** d σ(x) / d x. */
const slope = (x: number): number => sigmoid(x) * sigmoid(-x);

/** The better answer up and the worse one down. */
const zero = (better: number, worse: number): PairLoss => ({
  loss: sigmoid(-better) + sigmoid(worse),
  better: -slope(better),
  worse: slope(worse),
});

/** Both down, the worse one further. */
const down = (better: number, worse: number): PairLoss => ({
  loss: sigmoid(better) + sigmoid(worse - better),
  better: slope(better) - slope(better - worse),
  worse: slope(better - worse),
});

export const apo = objective({
  name: "apo",
  aliases: ["anchored_preference"],
  summary:
    "Anchored preferences: says whether each answer of a pair should become likelier, and not only which should be ahead.",
  formula: "zero: ℓ = 1 − σ(x_b) + σ(x_w); down: ℓ = σ(x_b) + 1 − σ(x_b − x_w); x = β log π/π_ref",
  sources: [
    "Anchored Preference Optimization and Contrastive Revisions: Addressing Underspecification in Alignment",
  ],
  params: z.object({
    beta: betaParam(0.1),
    anchor: anchorParam("reference"),
    pairs: pairing(),
    variant: param(
      z.enum(["zero", "down"]).default("zero"),
      "zero: the better answers are better than what the policy generates; down: they are worse.",
    ),
  }),
  create: ({ beta, variant, ...compared }) =>
    pairwise(compared, (a, b) => {
      const of = variant === "zero" ? zero : down;
      const { loss, better, worse } = of(beta * a, beta * b);
      return { loss, better: beta * better, worse: beta * worse };
    }),
});
