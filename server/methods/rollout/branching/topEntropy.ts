import { z } from "zod";
import { branching, param } from "../../../core/declaration.ts";
import { candidates, oneOf, tokenParams } from "./candidates.ts";

export const topEntropy = branching({
  name: "top_entropy",
  summary:
    "Each of a group's first rollouts is cut before one of its tokens of highest entropy, drawn at random, and generated again from there, several times.",
  formula: "group = n1 + n1 · n2; cut before t ~ U(top-k of H(π(· | y_<t)))",
  sources: ["CURE: Critical-Token-Guided Re-Concatenation for Entropy-Collapse Prevention"],
  params: z.object({
    k: param(z.number().int().min(1).default(20), "Tokens of highest entropy, of which one is drawn."),
    ...tokenParams,
  }),
  create: ({ k, children, min_characters, budget }) => ({
    children,
    budget,
    leave: ({ tokens, entropy }, random, tokenizer) =>
      oneOf(
        candidates(tokens, min_characters, tokenizer)
          .filter((at) => !Number.isNaN(entropy[at]!))
          .sort((a, b) => entropy[b]! - entropy[a]! || a - b)
          .slice(0, k),
        random,
      ),
  }),
});
