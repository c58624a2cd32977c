import { setTo } from "../../fixes.ts";
import { found, verlRule } from "../../rule.ts";

const [type, horizon, use] = [
  "algorithm.kl_ctrl.type",
  "algorithm.kl_ctrl.horizon",
  "algorithm.use_kl_in_reward",
];

export const klController = verlRule({
  id: "verl-kl-controller",
  title: "Adaptive KL without a horizon",
  why: "`get_kl_controller` (verl/trainer/ppo/core_algos.py) asserts `kl_ctrl.horizon` above 0 for the adaptive controller, which divides by it. verl makes the controller if `use_kl_in_reward` is on.",
  check(model) {
    const steps = model.number(horizon);
    if (model.text(type) !== "adaptive" || model.flag(use) !== true || steps === undefined || steps > 0)
      return [];
    const message = `\`kl_ctrl.horizon\` is ${steps}, but the adaptive controller divides by it: verl refuses it.`;
    return found(model, [horizon, type], message, { fixes: [setTo(model, horizon, 10000)] });
  },
});
