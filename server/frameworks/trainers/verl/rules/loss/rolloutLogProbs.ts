import { setTo } from "../../fixes.ts";
import { found, rollout, verlRule } from "../../rule.ts";
import type { RuleDiagnostic, RuleModel } from "../../../../rules/rule.ts";

const section = "algorithm.rollout_correction";
const [bypass, loss, level, rejection] = [
  `${section}.bypass_mode`,
  `${section}.loss_type`,
  `${section}.rollout_is`,
  `${section}.rollout_rs`,
];
const recorded = `${rollout}.calculate_log_probs`;

function withoutLogProbs(model: RuleModel): RuleDiagnostic[] {
  if (model.flag(recorded) !== false) return [];
  const fixes = [setTo(model, recorded, true)];
  if (model.flag(bypass) === true) {
    const message =
      "`bypass_mode` uses the engine's log-probabilities as the old policy's, but `rollout.calculate_log_probs` is off, so there are none: the first step stops.";
    return found(model, [recorded, bypass], message, { fixes });
  }
  const asked = [level, rejection].filter((key) => model.text(key) !== undefined);
  if (asked.length === 0) return [];
  const message = `\`rollout_correction\` corrects by the engine's log-probabilities, but \`rollout.calculate_log_probs\` is off: verl silently corrects nothing.`;
  return found(model, [...asked, recorded], message, { severity: "warning", fixes });
}

function lossType(model: RuleModel): RuleDiagnostic[] {
  const type = model.text(loss);
  if (model.flag(bypass) !== true || type === undefined || type === "reinforce" || type === "ppo_clip")
    return [];
  const message = `\`loss_type\` must be \`reinforce\` or \`ppo_clip\`, not \`${type}\`.`;
  return found(model, [loss, bypass], message, {
    fixes: [setTo(model, loss, type.startsWith("r") ? "reinforce" : "ppo_clip")],
  });
}

export const rolloutLogProbs = verlRule({
  id: "verl-rollout-log-probs",
  title: "Off-policy correction without log-probabilities",
  why: "`rollout_correction` compares the training engine with the inference engine, whose log-probabilities verl keeps only with `rollout.calculate_log_probs` (on by default since 0.9). `apply_bypass_mode` (verl/trainer/ppo/rollout_corr_helper.py) refuses to run without them, and so does `_compute_old_log_prob` of the newer trainer; verl silently skips the other corrections (verl/trainer/ppo/v1/trainer_base.py, `_compute_advantage`; ray_trainer.py, `fit`). `compute_policy_loss_bypass_mode` (core_algos.py) knows two kinds of loss.",
  since: "0.6.1",
  check: (model) => [...withoutLogProbs(model), ...lossType(model)],
});
