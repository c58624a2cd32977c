import { changeTo } from "../../../rules/fix.ts";
import type { RuleDiagnostic, RuleModel } from "../../../rules/rule.ts";
import { diagnosticAt } from "../../../rules/placed.ts";
import { everyTrainer } from "../../../releases/programs/trl.ts";
import { trlRule } from "../trlRule.ts";

const keys = [
  "load_best_model_at_end",
  "save_strategy",
  "eval_strategy",
  "save_steps",
  "eval_steps",
] as const;

/** Equal strategies evaluate what they save. */
function differentStrategies(model: RuleModel, saves: string, evaluates: string): RuleDiagnostic[] {
  const message = `\`load_best_model_at_end\` needs an evaluation of each checkpoint, but \`save_strategy\` is \`${saves}\` and \`eval_strategy\` is \`${evaluates}\`: set both to the same, or \`save_strategy: best\`.`;
  return diagnosticAt(model, ["load_best_model_at_end", "eval_strategy", "save_strategy"], message, {
    fixes: saves === "no" ? [] : changeTo(model.written("eval_strategy"), saves),
  });
}

function differentSteps(model: RuleModel): RuleDiagnostic[] {
  const [save, written] = [model.number("save_steps"), model.value("eval_steps")];
  const evaluation =
    written === null || written === 0 ? model.number("logging_steps") : model.number("eval_steps");
  if (save === undefined || evaluation === undefined || evaluation <= 0) return [];
  const shares = [save, evaluation].filter((steps) => steps < 1).length;
  const ratio = save / evaluation;
  const fits = shares === 2 ? Math.abs(ratio - Math.round(ratio)) < 1e-9 : save % evaluation === 0;
  if (fits && shares !== 1) return [];
  const reason =
    shares === 1
      ? `one is a share of all steps and the other is a number of steps`
      : `${save} is not a multiple of ${evaluation}`;
  const message = `\`load_best_model_at_end\` needs an evaluation at each checkpoint. With \`save_steps\` ${save} and \`eval_steps\` ${evaluation}, ${reason}.`;
  return diagnosticAt(model, ["save_steps", "eval_steps", "load_best_model_at_end"], message);
}

export const bestModel = trlRule({
  id: "trl-best-model",
  trees: everyTrainer,
  title: "Best model without evaluating every checkpoint",
  why: "`TrainingArguments._validate_args` (transformers/training_args.py) refuses `load_best_model_at_end` unless `save_strategy` equals `eval_strategy` or is `best`. By steps, `save_steps` must be a multiple of `eval_steps`.",
  check(model) {
    const [saves, evaluates] = [model.text("save_strategy"), model.text("eval_strategy")];
    const known = keys.every((key) => model.value(key) !== undefined);
    if (model.flag("load_best_model_at_end") !== true || !known) return [];
    if (saves === undefined || evaluates === undefined || saves === "best") return [];
    if (saves !== evaluates) return differentStrategies(model, saves, evaluates);
    return saves === "steps" ? differentSteps(model) : [];
  },
});
