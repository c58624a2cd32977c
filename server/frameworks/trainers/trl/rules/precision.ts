import { switchTo } from "../../../rules/fix.ts";
import type { RuleDiagnostic, RuleModel } from "../../../rules/rule.ts";
import { placed } from "../../../rules/placed.ts";
import { everyTrainer } from "../../../releases/programs/trl.ts";
import { trlRule } from "../trlRule.ts";

export const precision = trlRule({
  id: "trl-precision",
  trees: everyTrainer,
  title: "Conflicting precisions",
  why: "Transformers trains in bfloat16 or in float16, not in both: `TrainingArguments` refuses them together. TRL switches `bf16` on if `fp16` is off (`_BaseConfig` in trl/trainer/base_config.py); without a GPU that has bfloat16, set `use_cpu: true` or `bf16: false`.",
  check: (model) => [...both(model, "fp16", "bf16"), ...both(model, "fp16_full_eval", "bf16_full_eval")],
});

function both(model: RuleModel, first: string, second: string): RuleDiagnostic[] {
  const [half, brain] = [model.flag(first), model.flag(second)];
  const { at, related } = placed(model, first, second);
  if (half !== true || brain !== true || at === undefined) return [];
  const message = `\`${first}\` and \`${second}\` are both on, and Transformers refuses that: keep one, \`${second}\` if the GPU has it.`;
  return [{ at, related, message, fixes: switchTo(model, at, false) }];
}
