/** What each state of a verdict means, for `gradus rules STATE`; docs/verdict.md has the same sentences in its table. */
import type { RulePage } from "../../rules/rule.ts";
import { verdictStates, type VerdictState } from "../../../shared/run/verdict.ts";

interface StatePage {
  readonly title: string;
  /** When it is the verdict. */
  readonly holds: string;
  /** What to do. */
  readonly then: string;
}

const elsewhere =
  "In a log without successes, the reward term whose name says that it judges the answer is taken for them, else the whole reward.";

export const statePages: Readonly<Record<VerdictState, StatePage>> = {
  "too early": {
    title: "Too early to say",
    holds:
      "fewer than 10 training steps, or no held-out results to compare yet, or a difference that may be chance in the first quarter; never of a run that has ended",
    then: "Wait for the step that the sentence names.",
  },
  "cannot tell": {
    title: "The record does not say",
    holds: "held-out results may differ or not; or the log has none, or does not say over how many tasks",
    then: "Evaluate held-out tasks before and after training (`evaluation`; verl `trainer.test_freq`, TRL `eval_strategy`), from five evaluations on also in logs that do not say over how many tasks.",
  },
  learning: {
    title: "Held-out results are better",
    holds: "held-out pass@1 is better than before training: the whole interval lies above 0",
    then: "Nothing to change yet.",
  },
  flat: {
    title: "Held-out results are what they were",
    holds: "the whole interval lies within ± 3 points",
    then: "Look at how many groups train, at the learning rate and at what the reward is given for (`gradus reward FILE --probe`).",
  },
  starved: {
    title: "Hardly any group has an advantage",
    holds:
      "fewer than a tenth of the groups that a step should have have an advantage; not where the run came to solve its tasks",
    then: "Where all answers of a group get the same reward, every advantage is 0. Try the reward on its reference answers (`gradus check --run`, `gradus reward FILE --gold`): a pattern that never matches is the usual cause. Where it is right, choose tasks that the model solves sometimes, larger groups, or a longer limit for answers that are cut off.",
  },
  hacking: {
    title: "The reward rises and the task is not solved more often",
    holds:
      "the reward rises, one term without a part in success accounts for 60 % of it or more, and successes do not rise; or 30 % of successes come from responses that also succeed on tasks with another answer; or a gold term fell since its best evaluation, beyond chance, while the reward of the same held-out answers rose",
    then: `Give the term only where the answer is right, lower its weight, or close the hole that \`gradus reward FILE --probe\` finds. ${elsewhere}`,
  },
  collapsed: {
    title: "Worse at the task than before",
    holds:
      "held-out results are worse beyond chance; or successes fell to less than half while the entropy fell to a quarter; or, where every step draws alike, successes fell to less than half",
    then: `Look at rollouts of the first step that the sentence names, and at what rose meanwhile: a term that rewards wrong answers, too, or a learning rate that is too high. Go on from a checkpoint before that step. ${elsewhere}`,
  },
  unstable: {
    title: "Numbers of a policy that no longer learns",
    holds:
      "the loss or its gradient was no finite number in half of the last steps, or the entropy rose by 1 nat and to twice what it was",
    then: "Lower the learning rate or an entropy bonus, clip the gradient, and go on from a checkpoint before that step.",
  },
  stalled: {
    title: "No step for long",
    holds:
      "a live run recorded nothing for ten steps' time, and for five minutes; a followed run only where its trainer wrote down that steps are still to come",
    then: "Look at the process and at what it printed last.",
  },
  failing: {
    title: "Rewards that fail, or a run that trained nothing",
    holds:
      "a reward term fails on half of the rollouts or more; or the run failed; or it ended and nothing was trained",
    then: "The message says what it failed with: correct the reward function, then try it with `gradus reward FILE --gold`.",
  },
};

/** A state as the id of its page: `too-early`. */
export const stateId = (state: VerdictState): string => state.replace(" ", "-");

export const verdictPages: readonly RulePage[] = verdictStates.map((state) => {
  const { title, holds, then } = statePages[state];
  return {
    id: stateId(state),
    title,
    why: `The verdict on a run or on its log. It holds when ${holds}.\n\n${then}\n\n\`docs/verdict.md\` says how it is computed, and how often it was wrong.`,
  };
});
