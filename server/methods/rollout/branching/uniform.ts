import { z } from "zod";
import { branching } from "../../../core/declaration.ts";
import { candidates, oneOf, tokenParams } from "./candidates.ts";

export const uniform = branching({
  name: "uniform",
  summary:
    "Each of a group's first rollouts is cut before any of its tokens, drawn by chance, and written anew from there, some times over: what branching by entropy is compared with.",
  formula: "group = n1 + n1 · n2; cut before t ~ U(tokens)",
  sources: ["CURE: Critical-Token-Guided Re-Concatenation for Entropy-Collapse Prevention"],
  params: z.object(tokenParams),
  create: ({ children, min_characters, budget }) => ({
    children,
    budget,
    leave: ({ tokens }, random, tokenizer) => oneOf(candidates(tokens, min_characters, tokenizer), random),
  }),
});
