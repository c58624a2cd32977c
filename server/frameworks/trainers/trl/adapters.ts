/** Whether TRL trains an adapter instead of the model, as far as the file shows. */
import type { Setting } from "../../text/document.ts";
import { evaluated, type PythonExpression } from "../../text/python/expression.ts";
import type { Json } from "../../../../shared/lib/json.ts";
import type { RuleModel } from "../../rules/rule.ts";
import { trainerOf } from "./python.ts";

/** The setting that selects the adapter; undefined if none does. */
export function adapterOf(model: RuleModel): Setting | undefined {
  if (model.document.form !== "python")
    return model.flag("use_peft") === true ? model.written("use_peft") : undefined;
  const trainer = trainerOf(model);
  if (trainer?.get("peft_config")?.kind === "call") return trainer.setting("peft_config");
  return undefined;
}

/** A keyword of the adapter's configuration. */
function adapterValue(model: RuleModel, name: string): Json | undefined {
  if (model.document.form !== "python")
    return model.value(name === "target_modules" ? "lora_target_modules" : name);
  const config: PythonExpression | undefined = trainerOf(model)?.get("peft_config");
  if (config?.kind !== "call") return undefined;
  return evaluated(config.keywords.find((one) => one.name === name)?.value, trainerOf(model)?.names);
}

/** Whether the adapter changes the layer that makes the logits. */
export function adaptsHead(model: RuleModel): boolean {
  const modules = adapterValue(model, "target_modules");
  return modules === "lm_head" || (Array.isArray(modules) && modules.includes("lm_head"));
}
