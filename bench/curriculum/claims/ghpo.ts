import type { Claim } from "../claim.ts";
import { finalScore } from "../curve.ts";

const asked = {
  what: "success without help at the end, on tasks whose groups mostly failed",
  paper: "+0.05 on average over six sets",
  scale: "difference",
  claimed: 0.05,
} as const;

export const ghpo: Claim = {
  id: "ghpo",
  paper: "GHPO: Adaptive Guidance for Stable and Efficient LLM Reinforcement Learning",
  says: "Where a whole group fails, a part of the solution in the prompt lets training go on, and more is solved without help in the end.",
  own: { name: "ghpo", label: "GHPO" },
  other: { name: "hard", label: "GRPO" },
  real: [{ ...asked, effect: (own, other) => finalScore(own, ["twelve"]) - finalScore(other, ["twelve"]) }],
  simulated: [
    { ...asked, effect: (own, other) => finalScore(own, ["whole"]) - finalScore(other, ["whole"]) },
  ],
  differs:
    "what is given begins the response and does not train, since a model of this size reads no hint in its prompt; a pool of such tasks alone.",
  looks: [9],
};
