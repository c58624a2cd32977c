import { setTo } from "../../fixes.ts";
import { actor, found, size, verlRule } from "../../rule.ts";
import { groupSize, isV1 } from "../../shape.ts";
import type { RuleDiagnostic, RuleModel } from "../../../../rules/rule.ts";

const [estimator, keys, squared] = [
  "algorithm.adv_estimator",
  "algorithm.gdpo_reward_keys",
  `${actor}.calculate_sum_pi_squared`,
];

/** The inputs of estimators that the newer trainer does not pass on. */
const notInV1: Readonly<Record<string, string>> = {
  remax: "the reward of a greedy response",
  gdpo: "the parts of the reward",
  optimal_token_baseline: "Σπ²",
  tir_optimal_token_baseline: "Σπ²",
};

function missingInput(model: RuleModel, name: string): RuleDiagnostic[] {
  const input = Object.hasOwn(notInV1, name) ? notInV1[name] : undefined;
  if (input === undefined || !isV1(model)) return [];
  const message = `\`${name}\` reads ${input}, but verl's trainer since 0.9 does not pass it on: the first step stops. The older trainer passes it on.`;
  return found(model, [estimator], message, {
    severity: "warning",
    fixes: [setTo(model, "trainer.use_v1", false)],
  });
}

function ownNeed(model: RuleModel, name: string): RuleDiagnostic[] {
  const n = size(model, groupSize);
  if (name === "grpo_passk" && n === 1) {
    const message = "`grpo_passk` compares the best two of a group, but `rollout.n` is 1.";
    return found(model, [groupSize, estimator], message, { fixes: [setTo(model, groupSize, 8)] });
  }
  const parts = model.value(keys);
  if (name === "gdpo" && (parts === null || (Array.isArray(parts) && parts.length === 0))) {
    const message =
      "`gdpo` normalises each part of the reward by itself, but `algorithm.gdpo_reward_keys`, the list of parts, is empty.";
    return found(model, [estimator, keys], message);
  }
  if (name.endsWith("optimal_token_baseline") && model.flag(squared) === false) {
    const message = `\`${name}\` reads Σπ² of each position: set \`actor.calculate_sum_pi_squared\` to compute it.`;
    return found(model, [squared, estimator], message, { fixes: [setTo(model, squared, true)] });
  }
  return [];
}

export const estimatorNeeds = verlRule({
  id: "verl-estimator-needs",
  title: "Advantage estimator lacks an input",
  why: "Estimators check their inputs in the first step, after generation: `compute_grpo_passk_outcome_advantage` needs two responses per prompt, `compute_gdpo_outcome_advantage` needs `gdpo_reward_keys` (both verl/trainer/ppo/core_algos.py), and the optimal token baselines need `sum_pi_squared` (`compute_advantage`, verl/trainer/ppo/ray_trainer.py). The trainer of verl/trainer/ppo/v1 fetches neither Σπ² nor parts of rewards nor ReMax's greedy baseline (`_compute_advantage` of trainer_base.py).",
  check(model) {
    const name = model.text(estimator);
    if (name === undefined) return [];
    const missing = missingInput(model, name);
    return missing.length > 0 ? missing : ownNeed(model, name);
  },
});
