import { z } from "zod";
import { branching } from "../../../core/declaration.ts";
import { candidates, oneOf, tokenParams } from "./candidates.ts";

export const uniform = branching({
  name: "uniform",
  summary:
    "Each of a group's first rollouts is cut before one of its tokens, drawn at random, and generated again from there, several times: the control for branching by entropy.",
  formula: "group = n1 + n1 · n2; cut before t ~ U(tokens)",
  sources: ["CURE: Critical-Token-Guided Re-Concatenation for Entropy-Collapse Prevention"],
  params: z.object(tokenParams),
  create: ({ children, min_characters, budget }) => ({
    children,
    budget,
    leave: ({ tokens }, random, tokenizer) => oneOf(candidates(tokens, min_characters, tokenizer), random),
  }),
});
