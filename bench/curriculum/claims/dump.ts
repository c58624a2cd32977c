import type { Claim } from "../claim.ts";
import { finalScore, logSpentRatio } from "../curve.ts";
import { trainedArms } from "./arms.ts";

export const dump: Claim = {
  id: "dump",
  paper: "DUMP: Automated Distribution-Level Curriculum Learning for RL-based LLM Post-training",
  says: "A bandit over data sources, by upper confidence bounds of mean absolute advantages, converges faster and ends higher than drawing them alike.",
  own: { name: "dump", label: "DUMP" },
  other: { name: "uniform", label: "uniform" },
  real: [
    {
      what: "updates to the same success",
      paper: "fewer (curves, no number)",
      scale: "ratio",
      direction: "less",
      margin: Math.log(1.1),
      effect: (own, other) => logSpentRatio(own, other, ({ step }) => step, trainedArms),
    },
    {
      what: "success at the end, all sources",
      paper: "higher (curves, no number)",
      scale: "difference",
      direction: "more",
      margin: 0.02,
      effect: (own, other) => finalScore(own, trainedArms) - finalScore(other, trainedArms),
    },
  ],
  simulated: [
    {
      what: "success at the end, all levels",
      paper: "higher (curves, no number)",
      scale: "difference",
      direction: "more",
      margin: 0.02,
      effect: (own, other) => finalScore(own) - finalScore(other),
    },
  ],
  differs:
    "four sources of one kind, as the paper's puzzles with 3 to 14 characters are, over a far shorter run.",
  looks: [10, 14],
};
