import type { Asked, Claim } from "../claim.ts";
import { logSpentRatio } from "../curve.ts";
import type { Point } from "../result.ts";
import { trainedArms } from "./arms.ts";

const claimed = Math.log(0.6);
const spent = (what: string, spend: (point: Point) => number, arms?: readonly string[]): Asked => ({
  what: `${what} to the same success`,
  paper: "at most 0.6 ×",
  scale: "ratio",
  claimed,
  effect: (own, other) => logSpentRatio(own, other, spend, arms),
});
const training = ({ written, trained }: Point): number => written + trained;

export const balancedFiltering: Claim = {
  id: "balanced-filtering",
  paper: "Online Difficulty Filtering for Reasoning Oriented Reinforcement Learning",
  says: "Training only on groups of middling success, with the batch refilled, reaches the accuracy of plain GRPO within 60 % of its training time and of its training data.",
  own: { name: "balanced", label: "balanced filtering" },
  other: { name: "uniform", label: "plain GRPO" },
  real: [
    spent("updates", ({ step }) => step, trainedArms),
    spent("tokens that were written or had a gradient", training, trainedArms),
  ],
  simulated: [spent("updates", ({ step }) => step), spent("rollouts", ({ rollouts }) => rollouts)],
  differs:
    "time is counted in tokens: here one that is written costs what one in an update costs. Groups without a gradient cost plain GRPO nothing in an update here; elsewhere they do.",
  looks: [5],
};
