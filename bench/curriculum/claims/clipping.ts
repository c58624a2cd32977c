/** Claims of what a clip lets through: several updates of a batch. */
import type { Claim } from "../claim.ts";
import { finalEntropy, finalScore, logSpentRatio } from "../curve.ts";
import { trainedArms } from "./arms.ts";

const differs = "40 batches with 16 updates each, groups of 8, no overlong responses.";

export const clipHigher: Claim = {
  id: "clip-higher",
  paper: "DAPO: An Open-Source LLM Reinforcement Learning System at Scale",
  says: "A clip of 0.28 above and 0.2 below keeps the policy's entropy up, where 0.2 on both sides lets it collapse.",
  own: { name: "dapo", label: "clip-higher" },
  other: { name: "clipped", label: "the same clip on both sides" },
  real: [
    {
      what: "entropy at the end",
      paper: "higher (curves, no number)",
      scale: "ratio",
      direction: "more",
      margin: Math.log(1.1),
      effect: (own, other) => Math.log(finalEntropy(own) / finalEntropy(other)),
    },
    {
      what: "success at the levels that train, at the end",
      paper: "36 → 38 % on AIME 2024 ¹",
      scale: "difference",
      direction: "beside",
      effect: (own, other) => finalScore(own, trainedArms) - finalScore(other, trainedArms),
    },
  ],
  simulated: [],
  differs,
  looks: "of the pilot",
};

export const cispo: Claim = {
  id: "cispo",
  paper: "MiniMax-M1: Scaling Test-Time Compute Efficiently with Lightning Attention",
  says: "Bounding the weight of a token in place of dropping it reaches the success of DAPO with half as many updates.",
  own: { name: "cispo", label: "CISPO" },
  other: { name: "dapo", label: "DAPO" },
  real: [
    {
      what: "updates to the same success",
      paper: "0.5 × ¹",
      scale: "ratio",
      claimed: Math.log(0.5),
      effect: (own, other) => logSpentRatio(own, other, ({ step }) => step, trainedArms),
    },
    {
      what: "success at the levels that train, at the end",
      paper: "higher after as many steps (curves)",
      scale: "difference",
      direction: "more",
      margin: 0.02,
      effect: (own, other) => finalScore(own, trainedArms) - finalScore(other, trainedArms),
    },
  ],
  simulated: [],
  differs,
  looks: "of the pilot",
};
