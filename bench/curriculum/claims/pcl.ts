import type { Asked, Claim } from "../claim.ts";
import type { Result } from "../result.ts";

const paper = "12.1 × (MATH) and 16.9 × (DeepScaleR) cheaper";
const claimed = -Math.log(12.1);
/** Candidates of a step: the preset's four for each of the step's 32 prompts. */
const candidates = 4 * 32;
/** Texts of four to ten letters, drawn alike, with the mark after them, the beginning and the end token. */
const promptTokens = 7 + 3;

/** What the value model read: every candidate once, and every prompt that was rolled out once more to learn from. */
const read = ({ groups, points }: Result): number =>
  promptTokens * (candidates * points.at(-1)!.step + groups.admitted);
/** Tokens of rollouts that taught nothing: of groups that were rejected, or all alike. */
const idle = ({ points }: Result): number => points.at(-1)!.written - points.at(-1)!.trained;
const perMixedGroup = (spent: number, { groups }: Result): number => spent / groups.mixed;
const mixedShare = ({ groups }: Result): number => groups.mixed / groups.admitted;
/** Of the time that writing took, the part that went into groups that taught nothing. */
const idleSeconds = (run: Result): number =>
  (run.time?.generate ?? Number.NaN) * (idle(run) / run.points.at(-1)!.written);

const quality: Asked = {
  what: "share of the groups that train which are neither all right nor all wrong",
  paper: "hardly less",
  scale: "difference",
  direction: "beside",
  effect: (own, other) => mixedShare(own) - mixedShare(other),
};

export const pcl: Claim = {
  id: "pcl",
  paper: "Prompt Curriculum Learning for Efficient LLM Post-Training",
  says: "A value model's guess finds prompts of middling success many times cheaper than rolling candidates out.",
  own: { name: "pcl", label: "PCL" },
  other: { name: "filtered", label: "filtering by rollouts" },
  real: [
    {
      what: "tokens spent on choosing: read by the value model, against written for rejected groups",
      paper,
      scale: "ratio",
      claimed,
      effect: (own, other) => Math.log(read(own) / idle(other)),
    },
    {
      what: "seconds spent on choosing",
      paper,
      scale: "ratio",
      claimed,
      effect: (own, other) => Math.log((own.time?.choose ?? Number.NaN) / idleSeconds(other)),
    },
    {
      what: "tokens for each group of the band found, wasted rollouts included",
      paper,
      scale: "ratio",
      claimed,
      effect: (own, other) =>
        Math.log(perMixedGroup(read(own) + idle(own), own) / perMixedGroup(idle(other), other)),
    },
    quality,
  ],
  simulated: [
    {
      what: "rollouts for each group of the band found that taught nothing",
      paper,
      scale: "ratio",
      claimed,
      effect: (own, other) => Math.log(perMixedGroup(idle(own), own) / perMixedGroup(idle(other), other)),
    },
    quality,
  ],
  differs:
    "a response here is as short as its prompt, where the paper's is hundreds of times longer: a rollout costs little more than a look. Simulated, there is no value model: what is remembered of each of ten levels is compared, so that nothing is said of PCL itself.",
  looks: [5],
  standIn: "an average of each level's success, chosen near ½ (not PCL: no value model)",
};
