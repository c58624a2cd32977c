import { setTo } from "../../fixes.ts";
import { found, verlRule } from "../../rule.ts";

const [estimator, critic] = ["algorithm.adv_estimator", "critic.enable"];

export const criticOff = verlRule({
  id: "verl-critic-off",
  title: "GAE without a critic",
  why: "`need_critic` (verl/trainer/ppo/utils.py) makes a critic for GAE unless `critic.enable` is false; then `compute_advantage` (verl/trainer/ppo/ray_trainer.py) finds no values. GAE is the default estimator.",
  since: "0.6.0",
  check(model) {
    if (model.flag(critic) !== false || model.text(estimator) !== "gae") return [];
    const message =
      "`adv_estimator` is `gae`, which reads a critic's values, but `critic.enable` is false: the first step stops.";
    return found(model, [critic, estimator], message, {
      fixes: [setTo(model, critic, "null"), setTo(model, estimator, "grpo")],
    });
  },
});
