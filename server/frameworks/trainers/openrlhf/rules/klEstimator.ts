import { changeTo } from "../../../rules/fix.ts";
import type { RuleDiagnostic } from "../../../rules/rule.ts";
import type { Flags } from "../flags.ts";
import { openrlhfRule } from "../openrlhfRule.ts";

export const klEstimator = openrlhfRule({
  id: "openrlhf-kl-estimator",
  severity: "warning",
  title: "KL estimator does not fit its use",
  why: "In the loss the gradient counts, and that of k1 is zero on average: use k2 or k3. As a reward penalty the value counts, and k1 is unbiased. openrlhf/cli/train_ppo_ray.py only recommends this. With `algo.kl.init_coef` 0 there is no reference model, and neither use has an effect. (J. Schulman, Approximating KL Divergence).",
  check(flags) {
    const coefficient = flags.number("algo.kl.init_coef");
    if (coefficient === 0) return unused(flags);
    const estimator = flags.text("algo.kl.estimator");
    const [loss, unbiased] = [flags.value("algo.kl.use_loss"), flags.on("algo.kl.unbiased_gradient")];
    if (estimator === undefined || loss === undefined) return [];
    if (loss === true && estimator === "k1" && !unbiased) return inLoss(flags);
    return loss === false && estimator !== "k1" ? inReward(flags, estimator) : [];
  },
});

function unused(flags: Flags): RuleDiagnostic[] {
  const place = flags.placed("algo.kl.use_loss", "algo.kl.init_coef");
  if (!flags.on("algo.kl.use_loss") || place.at === undefined) return [];
  const message = `\`${flags.name("algo.kl.use_loss")}\` does nothing: \`${flags.name("algo.kl.init_coef")}\` is 0, so there is no reference model.`;
  return [{ ...place, message, severity: "info" }];
}

function inLoss(flags: Flags): RuleDiagnostic[] {
  const written = flags.written("algo.kl.estimator");
  const origin = written === undefined ? ", the default," : "";
  const message = `With \`${flags.name("algo.kl.use_loss")}\` the estimate k1${origin} has a gradient of zero on average, so it does not restrain the policy: use \`k3\` or \`k2\`.`;
  return flags.diagnostic(["algo.kl.estimator", "algo.kl.use_loss"], message, {
    fixes: changeTo(written, "k3"),
  });
}

function inReward(flags: Flags, estimator: string): RuleDiagnostic[] {
  const message = `As a reward penalty \`${estimator}\` is a biased estimate of the KL divergence: use \`k1\`, which OpenRLHF recommends where \`${flags.name("algo.kl.use_loss")}\` is off.`;
  return flags.diagnostic(["algo.kl.estimator"], message, { severity: "info" });
}
