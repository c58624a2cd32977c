import type { Claim } from "../claim.ts";
import { finalScore } from "../curve.ts";
import { trainedArms } from "./arms.ts";

const success = {
  what: "success at the levels that train, at the end",
  paper: "higher",
  scale: "difference",
  direction: "more",
  margin: 0.02,
} as const;

export const sec: Claim = {
  id: "sec",
  paper: "Self-Evolving Curriculum for LLM Reasoning",
  says: "Drawing the difficulties with the largest mean absolute advantage reaches more than drawing all alike, above all on problems harder than those that trained.",
  own: { name: "sec", label: "SEC" },
  other: { name: "uniform", label: "uniform" },
  real: [
    {
      what: "success on twelve letters, which never train",
      paper: "+13 % on harder Countdown problems, up to +33 % elsewhere ¹",
      scale: "ratio",
      claimed: Math.log(1.13),
      effect: (own, other) => Math.log(finalScore(own, ["twelve"]) / finalScore(other, ["twelve"])),
    },
    { ...success, effect: (own, other) => finalScore(own, trainedArms) - finalScore(other, trainedArms) },
  ],
  simulated: [
    {
      ...success,
      what: "success at the end, all levels",
      effect: (own, other) => finalScore(own) - finalScore(other),
    },
  ],
  differs: "four lengths of text in the place of four difficulties of a puzzle; 150 updates of 256 rollouts.",
  looks: [10, 20],
};
