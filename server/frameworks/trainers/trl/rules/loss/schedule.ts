import type { Json } from "../../../../../../shared/lib/json.ts";
import { isObject } from "../../../../text/values.ts";
import type { RuleDiagnostic, RuleModel } from "../../../../rules/rule.ts";
import { diagnosticAt } from "../../../../rules/placed.ts";
import { evaluates } from "../../batch.ts";
import { everyTrainer } from "../../../../releases/programs/trl.ts";
import { trlRule } from "../../trlRule.ts";

/** Arguments of a schedule, written as a map or as JSON. */
function givenTo(model: RuleModel): ReadonlySet<string> | undefined {
  const below = model.document.settings.flatMap(
    ({ key }) => /^lr_scheduler_kwargs\.(\w+)$/.exec(key)?.[1] ?? [],
  );
  if (below.length > 0) return new Set(below);
  const value: Json | undefined = model.value("lr_scheduler_kwargs");
  if (value === null) return new Set();
  return isObject(value) ? new Set(Object.keys(value)) : undefined;
}

function bounds(model: RuleModel, schedule: string): RuleDiagnostic[] {
  const given = givenTo(model);
  if (given === undefined || !/^cosine(_warmup)?_with_min_lr$/.test(schedule)) return [];
  const named = ["min_lr", "min_lr_rate"].filter((name) => given.has(name));
  if (named.length === 1) return [];
  const message =
    named.length === 0
      ? `\`${schedule}\` needs a floor: add \`min_lr\` or \`min_lr_rate\` to \`lr_scheduler_kwargs\`.`
      : `\`${schedule}\` takes one of \`min_lr\` and \`min_lr_rate\`, not both.`;
  return diagnosticAt(model, ["lr_scheduler_type", "lr_scheduler_kwargs"], message);
}

function decay(model: RuleModel, schedule: string): RuleDiagnostic[] {
  const given = givenTo(model);
  if (given === undefined || schedule !== "warmup_stable_decay" || given.has("num_decay_steps")) return [];
  const message = "`warmup_stable_decay` needs `num_decay_steps` in `lr_scheduler_kwargs`.";
  return diagnosticAt(model, ["lr_scheduler_type", "lr_scheduler_kwargs"], message);
}

export const schedule = trlRule({
  id: "trl-schedule",
  trees: everyTrainer,
  title: "Learning-rate schedule lacks a setting",
  why: "`reduce_lr_on_plateau` and `greedy` follow the evaluation's metric: `TrainingArguments._validate_args` (transformers/training_args.py) refuses them without an `eval_strategy`. The schedules with a floor and the one with a stable part need their arguments in `lr_scheduler_kwargs` (`get_cosine_with_min_lr_schedule_with_warmup` and `get_wsd_schedule` in transformers/optimization.py).",
  check(model) {
    const name = model.text("lr_scheduler_type");
    if (name === undefined || model.written("lr_scheduler_type") === undefined) return [];
    if (/^(reduce_lr_on_plateau|greedy)$/.test(name) && evaluates(model) === false) {
      const message = `\`${name}\` follows the evaluation's metric, but \`eval_strategy\` is \`no\`: Transformers refuses it.`;
      return diagnosticAt(model, ["lr_scheduler_type", "eval_strategy"], message);
    }
    return [...bounds(model, name), ...decay(model, name)];
  },
});
