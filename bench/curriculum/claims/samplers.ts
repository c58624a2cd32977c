/** The seven samplers of a public thread: one model, one pool, one number of updates. */
import type { Asked, Claim, Side } from "../claim.ts";
import { finalScore, scoreAt } from "../curve.ts";
import { trainedArms } from "./arms.ts";

const paper = "marin-community/marin#8765, round 2: seven samplers, 120 updates, the same pool";
const naive: Side = { name: "uniform", label: "naive" };

interface Arm {
  readonly id: string;
  readonly own: Side;
  readonly says: string;
  /** MATH500 of the arm; naive has 0.362. */
  readonly reached: number;
  /** Whether the thread makes something of it; the others stand beside. */
  readonly claimed: boolean;
  readonly differs: string;
}

/** Rounds away what subtraction leaves of decimals. */
const above = (reached: number): number => Number((reached - 0.362).toFixed(3));
const signed = (value: number): string => `${value < 0 ? "−" : "+"}${Math.abs(value).toFixed(3)}`;

const sampler = ({ id, own, says, reached, claimed, differs }: Arm): Claim => {
  const gain = above(reached);
  const what = (when: string): string => `success at the levels that train, ${when}`;
  const common = { paper: `${signed(gain)} on MATH500, one run each`, scale: "difference" } as const;
  const end: Omit<Asked, "direction" | "claimed" | "margin"> = {
    ...common,
    what: what("at the end"),
    effect: (ours, theirs) => finalScore(ours, trainedArms) - finalScore(theirs, trainedArms),
  };
  return {
    id: `samplers-${id}`,
    paper,
    says,
    own,
    other: naive,
    real: [
      claimed ? { ...end, claimed: gain } : { ...end, direction: "beside" },
      {
        ...common,
        what: what("after 120 updates"),
        direction: "beside",
        effect: (ours, theirs) => at120(ours) - at120(theirs),
      },
    ],
    simulated: [],
    differs: `four lengths in the place of nineteen bins, 32 prompts × 8 in that of 512 × 8, 150 updates. ${differs}`,
    looks: "of the pilot",
  };
};

const at120 = ({ points }: Parameters<Asked["effect"]>[0]): number => {
  const point = points.find(({ step }) => step === 120);
  return point === undefined ? Number.NaN : scoreAt(point, trainedArms);
};

const decayed =
  "What the sampler draws once a step from a posterior of decayed counts is the mean of it here: 64 rollouts a level and step leave it narrow.";

export const samplers: readonly Claim[] = [
  sampler({
    id: "thompson-dapo",
    own: { name: "thompsonFiltered", label: "Thompson with DAPO's filter" },
    says: "Drawing bins by how often their groups are mixed, and filling the batch with mixed groups, is the best of seven.",
    reached: 0.434,
    claimed: true,
    differs: decayed,
  }),
  sampler({
    id: "learnability",
    own: { name: "learnability", label: "learnability" },
    says: "Drawing bins in proportion to p (1 − p) beats drawing prompts alike, without a filter.",
    reached: 0.418,
    claimed: true,
    differs: decayed,
  }),
  sampler({
    id: "naive-dapo",
    own: { name: "filtered", label: "naive with DAPO's filter" },
    says: "DAPO's filter alone beats drawing prompts alike without it.",
    reached: 0.414,
    claimed: true,
    differs: "At most four times as many groups are drawn as train.",
  }),
  sampler({
    id: "grade-prior",
    own: { name: "gradePrior", label: "grade prior" },
    says: "Learnability that begins with a guess of each bin's difficulty beats drawing prompts alike.",
    reached: 0.408,
    claimed: true,
    differs: `${decayed} The prior, worth eight rollouts, counts in the first step alone.`,
  }),
  sampler({
    id: "thompson",
    own: { name: "thompson", label: "Thompson" },
    says: "Drawing bins by how often their groups are mixed, without a filter, does not beat drawing prompts alike.",
    reached: 0.35,
    claimed: false,
    differs: decayed,
  }),
  sampler({
    id: "grade-adaptive",
    own: { name: "gradeAdaptive", label: "grade by grade" },
    says: "Going from grade to grade, a fifth of the draws for the others, does not beat drawing prompts alike.",
    reached: 0.346,
    claimed: false,
    differs:
      "A level is left where 1 − p⁸ < 0.1, not where its mixed groups have been that few for ten steps; levels that are too hard are not left.",
  }),
];
