import { z } from "zod";
import { aggregate } from "../../../core/declaration.ts";
import { tokenMeans } from "./normalisers.ts";

export const tokenMean = aggregate({
  name: "token_mean",
  aliases: ["token-mean", "dapo", "bnpo"],
  summary: "Every trained token of the optimiser step counts equally.",
  formula: "L = Σ w ℓ / number of trained tokens",
  sources: ["DAPO: An Open-Source LLM Reinforcement Learning System at Scale"],
  params: z.object({}),
  create: () => tokenMeans,
});
