import { setTo } from "../../fixes.ts";
import { found, size, verlRule } from "../../rule.ts";
import { groupSize } from "../../shape.ts";

const estimator = "algorithm.adv_estimator";

/** The advantage that each estimator computes for a group of one. */
const alone: Readonly<Record<string, string>> = {
  grpo: "the advantage is the raw score",
  grpo_vectorized: "the advantage is the raw score",
  gdpo: "the advantage consists of raw scores",
  rloo: "the advantage is the raw score",
  rloo_vectorized: "the advantage is the raw score",
  reinforce_plus_plus_baseline: "the advantage is the raw score, whitened over the batch",
  opo: "the advantage is the raw score",
  gpg: "the advantage is the raw score",
};

export const groupOfOne = verlRule({
  id: "verl-group-of-one",
  title: "Group estimator with one response per prompt",
  why: "Estimators that compare the responses to one prompt have nothing to compare at `rollout.n` 1, the default: `compute_grpo_outcome_advantage` (verl/trainer/ppo/core_algos.py) uses mean 0 and deviation 1 for a single response, and the others do the same. Training continues without a baseline.",
  severity: "warning",
  check(model) {
    const name = model.text(estimator);
    const what = name !== undefined && Object.hasOwn(alone, name) ? alone[name] : undefined;
    if (name === undefined || what === undefined || size(model, groupSize) !== 1) return [];
    // A student that learns from its teacher alone compares nothing.
    if (model.flag("distillation.enabled") === true) return [];
    const message = `\`${name}\` compares the responses to one prompt, but \`rollout.n\` is 1: ${what}, with no baseline.`;
    return found(model, [groupSize, estimator], message, { fixes: [setTo(model, groupSize, 8)] });
  },
});
