import { isObject } from "../../../text/values.ts";
import type { RuleDiagnostic, RuleModel } from "../../../rules/rule.ts";
import type { Setting } from "../../../text/document.ts";
import { trainerOf } from "../python.ts";
import { everyTrainer, rewarded } from "../../../releases/programs/trl.ts";
import { trlRule } from "../trlRule.ts";

export const quantization = trlRule({
  id: "trl-quantization",
  trees: everyTrainer,
  title: "Duplicate quantization or adapter",
  why: "`GRPOTrainer.__init__` (trl/trainer/grpo_trainer.py) makes the quantized model and the adapter itself. Since TRL 1.8 it refuses a `quantization_config` both as its argument and in `model_init_kwargs`; `trl grpo` makes the first from `load_in_4bit` and `load_in_8bit`. Since TRL 0.27 it refuses a `peft_config` for a model that already has an adapter.",
  check: (model) =>
    rewarded.includes(model.document.tree ?? "grpo")
      ? [...quantized(model), ...adapted(model), ...bothWidths(model)]
      : bothWidths(model),
});

function quantized(model: RuleModel): RuleDiagnostic[] {
  const inside = model.written("model_init_kwargs");
  const own = ownConfig(model);
  if (inside === undefined || own === undefined || !holds(inside) || !model.since("1.8.0")) return [];
  const message = `\`quantization_config\` is in \`model_init_kwargs\` and also follows from \`${own.key}\`: TRL accepts it in one place only.`;
  return [{ at: inside, message, related: [own] }];
}

const holds = ({ value, text }: Setting): boolean =>
  isObject(value)
    ? "quantization_config" in value
    : /["']quantization_config["']\s*:/.test(text) || /\bquantization_config\s*=/.test(text);

function ownConfig(model: RuleModel): Setting | undefined {
  const trainer = trainerOf(model);
  if (trainer !== undefined)
    return trainer.has("quantization_config") ? trainer.setting("quantization_config") : undefined;
  return ["load_in_4bit", "load_in_8bit"]
    .filter((key) => model.flag(key) === true)
    .map((key) => model.written(key))[0];
}

function adapted(model: RuleModel): RuleDiagnostic[] {
  const trainer = trainerOf(model);
  const made = trainer?.get("model");
  const wrapped =
    made?.kind === "call" &&
    /(^|\.)(get_peft_model|PeftModel\.from_pretrained|AutoPeftModelForCausalLM\.from_pretrained)$/.test(
      made.callee,
    );
  if (
    trainer === undefined ||
    !wrapped ||
    trainer.get("peft_config")?.kind !== "call" ||
    !model.since("0.27.0")
  )
    return [];
  const message = `\`peft_config\` makes an adapter, but the model already has one from \`${made.callee}\`: TRL refuses it. Pass the model without its adapter, or remove \`peft_config\`.`;
  return [{ at: trainer.setting("peft_config"), message, related: [trainer.setting("model")] }];
}

/** `BitsAndBytesConfig` of Transformers takes one of them. */
function bothWidths(model: RuleModel): RuleDiagnostic[] {
  const [four, eight] = [model.written("load_in_4bit"), model.written("load_in_8bit")];
  if (model.flag("load_in_4bit") !== true || model.flag("load_in_8bit") !== true || eight === undefined)
    return [];
  const message =
    "`load_in_4bit` and `load_in_8bit` are both on, but `ModelConfig` accepts only one of them.";
  return [{ at: eight, message, related: four === undefined ? [] : [four] }];
}
