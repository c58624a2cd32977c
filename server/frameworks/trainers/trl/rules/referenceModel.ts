import { switchTo } from "../../../rules/fix.ts";
import type { RuleDiagnostic, RuleModel } from "../../../rules/rule.ts";
import { diagnosticAt } from "../../../rules/placed.ts";
import { adapterOf } from "../adapters.ts";
import { trlRule } from "../trlRule.ts";

export const referenceModel = trlRule({
  id: "trl-reference-model",
  title: "No reference model to synchronise",
  why: "`sync_ref_model` regularly mixes the policy into the reference model. With `beta` 0, the default, there is no reference model; with an adapter the reference is the model with its adapter switched off. `GRPOTrainer.__init__` (trl/trainer/grpo_trainer.py) refuses both since TRL 0.28; before, the first synchronisation failed.",
  check(model) {
    if (model.flag("sync_ref_model") !== true) return [];
    return [...withoutReference(model), ...adapted(model)];
  },
});

function withoutReference(model: RuleModel): RuleDiagnostic[] {
  if (model.number("beta") !== 0) return [];
  const shown = model.written("beta") === undefined ? "0, its default" : "0";
  const message = `\`sync_ref_model\` is on, but \`beta\` is ${shown}, so there is no reference model: remove \`sync_ref_model\`, or set \`beta\` above 0.`;
  return diagnosticAt(model, ["sync_ref_model", "beta"], message, {
    fixes: switchTo(model, model.written("sync_ref_model") ?? model.written("beta"), false),
  });
}

function adapted(model: RuleModel): RuleDiagnostic[] {
  const adapter = adapterOf(model);
  if (adapter === undefined || model.number("beta") === 0) return [];
  const message =
    "`sync_ref_model` is on, but an adapter trains: the reference is the model without its adapter, so there is nothing to synchronise. TRL refuses it.";
  return [{ message, at: model.written("sync_ref_model"), related: [adapter] }];
}
