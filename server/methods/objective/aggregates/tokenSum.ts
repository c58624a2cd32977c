import { z } from "zod";
import { aggregate } from "../../../core/declaration.ts";
import { alike } from "./normalisers.ts";

export const tokenSum = aggregate({
  name: "token_sum",
  aliases: ["token-sum"],
  summary: "The plain sum over trained tokens: the gradient grows with the batch.",
  formula: "L = Σ w ℓ",
  sources: ["verl 0.9.1"],
  params: z.object({}),
  create: () => (_, batch) => alike(batch, 1),
});
