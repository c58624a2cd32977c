/** Whether TRL trains an adapter instead of the model, as far as the file tells. */
import type { Setting } from "../document.ts";
import { evaluated, type Expression } from "../python/expression.ts";
import type { Json } from "../../../shared/json.ts";
import type { ForeignModel } from "../rule.ts";
import { trainerOf } from "./python.ts";

/** The setting that says so; undefined where none does. */
export function adapterOf(model: ForeignModel): Setting | undefined {
  if (model.document.form !== "python")
    return model.flag("use_peft") === true ? model.written("use_peft") : undefined;
  const trainer = trainerOf(model);
  if (trainer?.get("peft_config")?.kind === "call") return trainer.setting("peft_config");
  return undefined;
}

/** A keyword of the adapter's configuration. */
function adapterValue(model: ForeignModel, name: string): Json | undefined {
  if (model.document.form !== "python")
    return model.value(name === "target_modules" ? "lora_target_modules" : name);
  const config: Expression | undefined = trainerOf(model)?.get("peft_config");
  if (config?.kind !== "call") return undefined;
  return evaluated(config.keywords.find((one) => one.name === name)?.value, trainerOf(model)?.names);
}

/** Whether the adapter changes the layer that makes the logits. */
export function adaptsHead(model: ForeignModel): boolean {
  const modules = adapterValue(model, "target_modules");
  return modules === "lm_head" || (Array.isArray(modules) && modules.includes("lm_head"));
}
