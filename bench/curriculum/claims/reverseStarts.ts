import type { Claim } from "../claim.ts";
import { finalScore } from "../curve.ts";

const asked = {
  what: "success from the prompt at the end, on long solutions",
  paper: "31.7 → 35.5 % on APPS+ ¹",
  scale: "difference",
  claimed: 0.038,
} as const;

export const reverseStarts: Claim = {
  id: "reverse-starts",
  paper: "StepCoder: Improve Code Generation with Reinforcement Learning from Compiler Feedback",
  says: "Beginning behind most of a written solution, and ever earlier, explores long solutions better than beginning at the prompt.",
  own: { name: "reverseStarts", label: "reverse starts" },
  other: { name: "hard", label: "starts at the prompt" },
  real: [{ ...asked, effect: (own, other) => finalScore(own, ["twelve"]) - finalScore(other, ["twelve"]) }],
  simulated: [
    { ...asked, effect: (own, other) => finalScore(own, ["whole"]) - finalScore(other, ["whole"]) },
  ],
  differs: "GRPO in the place of PPO, solutions of twelve tokens, no executed lines to mask.",
  looks: [5],
};
