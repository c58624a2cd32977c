/** Claims of how widely a policy still finds answers: pass@k at large k. */
import type { Asked, Claim } from "../claim.ts";
import { finalPass } from "../curve.ts";

/** Lengths of which the warmed-up model reverses few: at four letters every k is near 1. */
const long = ["ten", "twelve"] as const;

function passes(k: number, asked: { readonly paper: string; readonly direction: "more" | "beside" }): Asked {
  const common = {
    what: `pass@${k} on ten and twelve letters at the end`,
    paper: asked.paper,
    scale: "difference",
    effect: (own, other) => finalPass(own, k, long) - finalPass(other, k, long),
  } as const satisfies Partial<Asked>;
  return asked.direction === "more"
    ? { ...common, direction: "more", margin: 0.02 }
    : { ...common, direction: "beside" };
}

const paper = "The Surprising Effectiveness of Negative Reinforcement in LLM Reasoning";
const one = "one update a batch, so that GRPO's clip never acts; k up to 64, not 256.";

export const negativeReinforcement: Claim = {
  id: "nsr",
  paper,
  says: "Pushing wrong answers down and nothing up keeps pass@k at large k higher than GRPO does.",
  own: { name: "nsr", label: "NSR" },
  other: { name: "wide", label: "GRPO" },
  real: [
    passes(64, { paper: "higher at large k (k up to 256)", direction: "more" }),
    passes(1, { paper: "as high, or higher", direction: "beside" }),
  ],
  simulated: [],
  differs: one,
  looks: "of the pilot",
};

export const negativeAgainstPositive: Claim = {
  id: "nsr-psr",
  paper,
  says: "Pushing right answers up alone raises pass@1 and costs pass@k at large k, where pushing wrong ones down does not.",
  own: { name: "nsr", label: "NSR" },
  other: { name: "psr", label: "PSR" },
  real: [
    passes(64, { paper: "higher at large k", direction: "more" }),
    passes(1, { paper: "as high, or higher", direction: "beside" }),
  ],
  simulated: [],
  differs: one,
  looks: "of the pilot",
};

export const passkTraining: Claim = {
  id: "passk-training",
  paper: "Pass@k Training for Adaptively Balancing Exploration and Exploitation of Large Reasoning Models",
  says: "Rewarding an answer by what it adds to the chance that one of k is right raises pass@k and does not cost pass@1.",
  own: { name: "passkTraining", label: "pass@k training" },
  other: { name: "wide", label: "GRPO" },
  real: [
    passes(4, { paper: "higher (curves, no number)", direction: "more" }),
    passes(64, { paper: "higher (curves, no number)", direction: "more" }),
    passes(1, { paper: "no lower", direction: "beside" }),
  ],
  simulated: [],
  differs: "k is 4 of a group of 8; one update a batch.",
  looks: "of the pilot",
};
