import { setTo } from "../../fixes.ts";
import { actor, found, verlRule } from "../../rule.ts";

const [reward, loss] = ["algorithm.use_kl_in_reward", `${actor}.use_kl_loss`];

export const klTwice = verlRule({
  id: "verl-kl-twice",
  title: "KL penalty in both reward and loss",
  why: "Both penalise the distance to the same reference policy. `validate_config` (verl/utils/config.py) prints a notice and continues.",
  severity: "warning",
  check(model) {
    if (model.flag(reward) !== true || model.flag(loss) !== true) return [];
    const coefficients = [model.number("algorithm.kl_ctrl.kl_coef"), model.number(`${actor}.kl_loss_coef`)];
    const message = `verl penalises the distance to the reference twice: in the reward (\`kl_coef\` ${coefficients[0] ?? "?"}) and in the loss (\`kl_loss_coef\` ${coefficients[1] ?? "?"}).`;
    return found(model, [reward, loss], message, {
      fixes: [setTo(model, reward, false), setTo(model, loss, false)],
    });
  },
});
