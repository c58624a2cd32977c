import type { Asked, Claim } from "../claim.ts";
import { logSpentRatio } from "../curve.ts";
import { trainedArms } from "./arms.ts";

const faster = {
  what: "updates to the same success",
  paper: "2.5 × fewer",
  scale: "ratio",
  claimed: -Math.log(2.5),
} as const satisfies Partial<Asked>;

export const gainRl: Claim = {
  id: "gain-rl",
  paper: "Angles Don't Lie: Unlocking Training-Efficient RL Through the Model's Own Signals",
  says: "Prompts in the order of the angles between their hidden states, through a window that moves on with success, need 2.5 times less training.",
  own: { name: "gain", label: "GAIN-RL" },
  other: { name: "pool", label: "uniform over the same prompts" },
  real: [{ ...faster, effect: (own, other) => logSpentRatio(own, other, ({ step }) => step, trainedArms) }],
  simulated: [{ ...faster, effect: (own, other) => logSpentRatio(own, other, ({ step }) => step) }],
  differs:
    "nothing stands before a question, so that its angles are those of its own tokens, and the window is as much smaller as the pool is. The order's second term is on in the real runs (n = 12). Simulated, there are no angles: a prompt's level is known, the best order there could be, the second term is off and n = 50, so that nothing is said of GAIN-RL itself.",
  looks: [5],
  standIn: "a window over known levels (not GAIN-RL: no angles, no second term)",
};
