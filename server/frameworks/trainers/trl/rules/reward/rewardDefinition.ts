import { nearest } from "../../../../../lib/suggest.ts";
import type { Fix } from "../../../../../config/check/diagnostic.ts";
import { replace } from "../../../../../config/check/report.ts";
import type { PythonExpression } from "../../../../text/python/expression.ts";
import { tokensOf } from "../../../../../lib/python/tokens.ts";
import type { CodeSpan } from "../../../../text/shell/traced.ts";
import type { RuleDiagnostic, RuleModel } from "../../../../rules/rule.ts";
import { trainerOf } from "../../python.ts";
import { functionsIn } from "../../rewards.ts";
import { rewarded } from "../../../../releases/programs/trl.ts";
import { trlRule } from "../../trlRule.ts";

export const rewardDefinition = trlRule({
  id: "trl-reward-definition",
  trees: rewarded,
  title: "Undefined reward function",
  why: "`reward_funcs` of `GRPOTrainer` and `RLOOTrainer` (trl/trainer/grpo_trainer.py) takes functions themselves: a name that the file does not define, import or assign is a `NameError` in the line that makes the trainer, after the model and the data are loaded. Gradus reports a name that occurs nowhere else in the file, unless the file is a sketch without its data, or has `from x import *`, which may define any name.",
  check(model) {
    const trainer = trainerOf(model);
    const value = trainer?.get("reward_funcs");
    if (trainer === undefined || value === undefined || /\bimport\s*\*|\bglobals\(/.test(model.document.text))
      return [];
    const used = (value.kind === "list" ? value.items : [value]).filter(isPlainName);
    const inside = (span: CodeSpan): boolean =>
      [trainer.call, value].some((other) => span.start >= other.start && span.end <= other.end);
    const known = new Set(
      tokensOf(model.document.text)
        .filter((token) => token.kind === "name" && !inside(token))
        .map(({ text }) => text),
    );
    // A sketch omits its data too.
    const others = trainer.call.keywords.flatMap(({ name, value: one }) =>
      name !== "reward_funcs" && isPlainName(one) ? [one.name] : [],
    );
    const whole = others.length > 0 && others.every((name) => known.has(name));
    return used
      .filter(({ name }) => !known.has(name) && (whole || meantBy(model, name) !== undefined))
      .map((one) => diagnosticOf(model, one));
  },
});

type Name = Extract<PythonExpression, { readonly kind: "name" }>;

const isPlainName = (item: PythonExpression): item is Name => item.kind === "name" && /^\w+$/.test(item.name);

const meantBy = (model: RuleModel, name: string): string | undefined =>
  nearest(name, [...functionsIn(model).keys()]);

function diagnosticOf(model: RuleModel, item: Name): RuleDiagnostic {
  const at = trainerOf(model)?.place(item, "reward_funcs");
  const { name } = item;
  const meant = meantBy(model, name);
  const hint = meant === undefined ? "" : ` Did you mean \`${meant}\`?`;
  const fixes: Fix[] =
    meant === undefined || at === undefined ? [] : [replace(at.range, meant, `Change to \`${meant}\``)];
  return { at, message: `This file neither defines nor imports \`${name}\`.${hint}`, fixes };
}
