import { changeTo } from "../../fix.ts";
import type { ForeignFinding, ForeignModel, ForeignRule } from "../../rule.ts";
import { placed } from "../../written.ts";
import { adapterOf } from "../adapters.ts";

export const referenceModel: ForeignRule = {
  id: "trl-reference-model",
  framework: "trl",
  severity: "error",
  title: "A reference model to keep in step that does not exist",
  why: "`sync_ref_model` mixes the policy into the reference model now and then. With `beta` 0, the default, there is no reference model, and with an adapter it is the model with its adapter switched off: `GRPOTrainer.__init__` (trl/trainer/grpo_trainer.py) refuses both since TRL 0.28; before, the first synchronisation failed.",
  check(model) {
    if (model.flag("sync_ref_model") !== true) return [];
    return [...without(model), ...adapted(model)];
  },
};

function without(model: ForeignModel): ForeignFinding[] {
  if (model.number("beta") !== 0) return [];
  const { at, related } = placed(model, "sync_ref_model", "beta");
  const shown = model.written("beta") === undefined ? "0, its default" : "0";
  const message = `\`sync_ref_model\` is on and \`beta\` is ${shown}: there is no reference model. Leave \`sync_ref_model\` out, or set \`beta\` above 0.`;
  const off =
    at === undefined ? undefined : changeTo(at, model.document.form === "python" ? "False" : "false");
  return [{ message, at, related, fixes: off === undefined ? [] : [off] }];
}

function adapted(model: ForeignModel): ForeignFinding[] {
  const adapter = adapterOf(model);
  if (adapter === undefined || model.number("beta") === 0) return [];
  const message =
    "`sync_ref_model` is on while an adapter is trained: the reference is the model without its adapter, and there is nothing to keep in step. TRL refuses it.";
  return [{ message, at: model.written("sync_ref_model"), related: [adapter] }];
}
