/** Claims of groups that teach nothing: drawn again, or not drawn at all. */
import type { Claim } from "../claim.ts";
import { finalScore, logSpentRatio } from "../curve.ts";
import { trainedArms } from "./arms.ts";

export const dynamicSampling: Claim = {
  id: "dynamic-sampling",
  paper: "DAPO: An Open-Source LLM Reinforcement Learning System at Scale",
  says: "Drawing again for groups that are all right or all wrong, until the batch is full, needs fewer updates and ends higher.",
  own: { name: "filtered", label: "dynamic sampling" },
  other: { name: "uniform", label: "GRPO" },
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
      what: "success at the levels that train, at the end",
      paper: "42 → 50 % on AIME 2024 ¹",
      scale: "difference",
      claimed: 0.08,
      effect: (own, other) => finalScore(own, trainedArms) - finalScore(other, trainedArms),
    },
  ],
  simulated: [],
  differs: "at most four times as many groups are drawn as train; none of DAPO's other parts on either side.",
  looks: "of the pilot",
};

export const mopps: Claim = {
  id: "mopps",
  paper: "Can Prompt Difficulty be Online Predicted for Accelerating RL Finetuning of Reasoning Models?",
  says: "A posterior of each prompt's success finds prompts worth training on with far fewer rollouts than rolling candidates out.",
  own: { name: "mopps", label: "MoPPS" },
  other: { name: "tested", label: "dynamic sampling" },
  real: [
    {
      what: "rollouts to the same success",
      paper: "far fewer (by task)",
      scale: "ratio",
      direction: "less",
      margin: Math.log(1.1),
      effect: (own, other) => logSpentRatio(own, other, ({ rollouts }) => rollouts, trainedArms),
    },
    {
      what: "success at the levels that train, at the end",
      paper: "as high",
      scale: "difference",
      direction: "beside",
      effect: (own, other) => finalScore(own, trainedArms) - finalScore(other, trainedArms),
    },
  ],
  simulated: [],
  differs: "512 prompts, so that one comes back about nine times; the posterior forgets half at each visit.",
  looks: "of the pilot",
};
