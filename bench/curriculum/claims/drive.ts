import type { Claim } from "../claim.ts";
import { finalScore } from "../curve.ts";

const asked = {
  paper: "higher (no number for this part alone)",
  scale: "difference",
  direction: "more",
  margin: 0.02,
} as const;

export const drive: Claim = {
  id: "drive",
  paper:
    "DRIVE: Data Curation Best Practices for Reinforcement Learning with Verifiable Reward in Competitive Code Generation",
  says: "A second stage on few, hard prompts with 64 rollouts each, of which the hardest are kept, raises success on hard problems.",
  own: { name: "drive", label: "hard focus" },
  other: { name: "uniform", label: "one broad stage, as many rollouts" },
  real: [
    {
      ...asked,
      what: "success on ten letters at the end",
      effect: (own, other) => finalScore(own, ["ten"]) - finalScore(other, ["ten"]),
    },
  ],
  simulated: [
    {
      ...asked,
      what: "success at two hard levels, which the second stage trains",
      effect: (own, other) => finalScore(own, ["6", "7"]) - finalScore(other, ["6", "7"]),
    },
  ],
  differs: "no supervised stage before; phases of 12 updates, 256 prompts of which 64 stay.",
  looks: [5],
};
