import { diagnosticAt } from "../../../../rules/placed.ts";
import { trlRule } from "../../trlRule.ts";

export const cispoCeiling = trlRule({
  id: "trl-cispo-ceiling",
  severity: "warning",
  title: "CISPO ceiling below 1",
  why: "With `loss_type: cispo`, `epsilon_high` is the highest importance weight itself, not its distance from 1: `GRPOTrainer._compute_loss` (trl/trainer/grpo_trainer.py) caps weights at it. Weights are around 1, so a value meant for clipping, such as the default taken from `epsilon` (0.2), caps every weight: the gradient becomes that many times the policy gradient. ScaleRL uses 5.0 (The Art of Scaling Reinforcement Learning Compute for LLMs).",
  check(model) {
    const high = model.value("epsilon_high");
    const ceiling = high === null ? model.number("epsilon") : model.number("epsilon_high");
    if (model.text("loss_type") !== "cispo" || high === undefined || ceiling === undefined || ceiling >= 1)
      return [];
    const origin = model.written("epsilon_high") === undefined ? ", from `epsilon`" : "";
    const message = `CISPO caps importance weights at \`epsilon_high\`, which is ${ceiling}${origin}. Weights are around 1, so it caps all of them: ScaleRL uses 5.0.`;
    return diagnosticAt(model, ["epsilon_high", "loss_type", "epsilon"], message);
  },
});
