import { z } from "zod";
import { aggregate, param } from "../../../core/declaration.ts";
import { alike } from "./normalisers.ts";

export const tokenBudget = aggregate({
  name: "token_budget",
  summary: "The sum over trained tokens, divided by a fixed number of tokens.",
  formula: "L = Σ w ℓ / budget",
  sources: ["Ring-lite: Scalable Reasoning via C3PO-Stabilized Reinforcement Learning for LLMs"],
  params: z.object({ budget: param(z.number().positive(), "Φ: tokens that a step is expected to train.") }),
  create:
    ({ budget }) =>
    (_, batch) =>
      alike(batch, budget),
});
