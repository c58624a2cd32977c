/** What a step of each kind of stage is. */
import type { StageKind } from "../../../shared/run/stageKinds.ts";
import type { StepContext } from "../step/context.ts";
import { step } from "../step/step.ts";
import { solutionStep, textStep } from "./likelihood.ts";
import { preferenceStep, rewardModelStep } from "./pairs.ts";
import { mergeInto } from "./weights.ts";

type Step = (context: StepContext) => Promise<Record<string, number>>;

const mergeStep: Step = ({ session, stage }) => mergeInto(session.policy, session.config, stage.config.merge);

/** @throws for an alternation: its turns are steps of other stages */
export function stepOf(kind: StageKind): Step {
  switch (kind) {
    case "rl":
      return step;
    case "sft":
      return solutionStep;
    case "pretrain":
      return textStep;
    case "preference":
      return preferenceStep;
    case "reward_model":
      return rewardModelStep;
    case "merge":
      return mergeStep;
    case "alternate":
      throw new Error("internal: an alternation has no step of its own");
  }
}
