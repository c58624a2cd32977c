import { changeTo } from "../../../../rules/fix.ts";
import type { RuleDiagnostic, RuleModel } from "../../../../rules/rule.ts";
import { diagnosticAt } from "../../../../rules/placed.ts";
import { everyTrainer } from "../../../../releases/programs/trl.ts";
import { trlRule } from "../../trlRule.ts";

const kinds = ["logging", "eval", "save"] as const;

/** `logging_steps`, `eval_steps` and `save_steps`: shares below 1, whole numbers above. */
function broken(model: RuleModel): RuleDiagnostic[] {
  return kinds.flatMap((kind) => {
    const steps = model.number(`${kind}_steps`);
    const at = model.written(`${kind}_steps`);
    if (model.text(`${kind}_strategy`) !== "steps" || steps === undefined || at === undefined) return [];
    if (steps <= 1 || Number.isInteger(steps)) return [];
    const message = `\`${kind}_steps\` is ${steps}: Transformers takes whole steps above 1, and a share of all steps below 1.`;
    return [{ at, message, fixes: changeTo(at, Math.round(steps)) }];
  });
}

function never(model: RuleModel): RuleDiagnostic[] {
  const logging = model.number("logging_steps");
  if (model.text("logging_strategy") === "steps" && logging === 0) {
    const message =
      "`logging_steps` is 0 and `logging_strategy` is `steps`: Transformers refuses to log every 0 steps.";
    return diagnosticAt(model, ["logging_steps", "logging_strategy"], message);
  }
  const evaluation = model.value("eval_steps");
  const none = evaluation === null || evaluation === 0;
  if (model.text("eval_strategy") !== "steps" || !none || logging === undefined || logging > 0) return [];
  const message =
    "`eval_strategy` is `steps`, but neither `eval_steps` nor `logging_steps` says how many: set one of them.";
  return diagnosticAt(model, ["eval_steps", "eval_strategy", "logging_steps"], message);
}

export const steps = trlRule({
  id: "trl-steps",
  trees: everyTrainer,
  title: "Invalid interval of steps",
  why: "`TrainingArguments` (transformers/training_args.py, `__post_init__` and `_validate_args`) counts logging, evaluation and saving in whole steps, or below 1 in shares of all steps. It refuses 0 if it logs by steps. `eval_steps` falls back to `logging_steps`.",
  check: (model) => [...never(model), ...broken(model)].filter(({ at }) => at !== undefined),
});
