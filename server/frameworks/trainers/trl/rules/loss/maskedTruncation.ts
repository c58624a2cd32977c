import { diagnosticAt } from "../../../../rules/placed.ts";
import { trlRule } from "../../trlRule.ts";

/** Tokens within which few models finish an answer with its reasoning. */
const short = 64;

export const maskedTruncation = trlRule({
  id: "trl-masked-truncation",
  severity: "warning",
  title: "Short completions left out of the loss",
  why: "`mask_truncated_completions` leaves completions that reach `max_completion_length` out of the loss (`GRPOTrainer._generate_and_score_completions` in trl/trainer/grpo_trainer.py). If nearly all reach it, nothing trains, and neither the loss nor the reward shows why.",
  check(model) {
    const length = model.number("max_completion_length");
    if (model.flag("mask_truncated_completions") !== true || length === undefined || length > short)
      return [];
    const message = `\`max_completion_length\` is ${length}, and \`mask_truncated_completions\` leaves truncated completions out of the loss: if most are truncated, hardly any train. Watch \`completions/clipped_ratio\`, or allow more tokens.`;
    return diagnosticAt(model, ["max_completion_length", "mask_truncated_completions"], message);
  },
});
