import type { ForeignRule } from "../../../rule.ts";
import { placed } from "../../../written.ts";

export const cispoCeiling: ForeignRule = {
  id: "trl-cispo-ceiling",
  framework: "trl",
  severity: "warning",
  title: "A ceiling of CISPO's weights below 1",
  why: "With `loss_type: cispo`, `epsilon_high` is the highest importance weight itself, not its distance from 1: `GRPOTrainer._compute_loss` (trl/trainer/grpo_trainer.py) cuts weights at it. A value that is meant for clipping, as the default that it takes from `epsilon` (0.2), cuts every weight, as they lie around 1: the gradient becomes that many times the policy gradient. ScaleRL uses 5.0 (The Art of Scaling Reinforcement Learning Compute for LLMs).",
  check(model) {
    const high = model.value("epsilon_high");
    const ceiling = high === null ? model.number("epsilon") : model.number("epsilon_high");
    if (model.text("loss_type") !== "cispo" || high === undefined || ceiling === undefined || ceiling >= 1)
      return [];
    const origin = model.written("epsilon_high") === undefined ? ", from `epsilon`" : "";
    const message = `CISPO cuts importance weights at \`epsilon_high\`, which is ${ceiling}${origin}: weights lie around 1, so all of them are cut. ScaleRL uses 5.0.`;
    return [{ message, ...placed(model, "epsilon_high", "loss_type", "epsilon") }];
  },
};
