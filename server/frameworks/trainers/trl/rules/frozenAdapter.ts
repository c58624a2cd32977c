import { everyTrainer } from "../../../releases/programs/trl.ts";
import { Lines } from "../../../readers/lines.ts";
import { loadsAdapter } from "../../../readers/trl/scriptModel.ts";
import type { PythonExpression } from "../../../text/python/expression.ts";
import type { Fix } from "../../../../config/check/diagnostic.ts";
import type { RuleModel } from "../../../rules/rule.ts";
import { trainerOf } from "../python.ts";
import { trlRule } from "../trlRule.ts";

type Call = Extract<PythonExpression, { readonly kind: "call" }>;

export const frozenAdapter = trlRule({
  id: "trl-frozen-adapter",
  severity: "warning",
  trees: everyTrainer,
  title: "Adapter that is loaded frozen",
  why: "`PeftModel.from_pretrained` (peft/peft_model.py) loads an adapter for inference: without `is_trainable=True` none of its weights train, and those of the model below do not either. TRL takes such a model as it is; losses and rewards look as they should, and the adapter that is saved is the one that was loaded (TRL issue 6700). Gradus is silent where the script merges the adapter, adds another, gives the trainer a `peft_config`, or says itself which weights train.",
  check(model) {
    const trainer = trainerOf(model);
    const loaded = trainer?.get("model");
    if (trainer === undefined || loaded?.kind !== "call" || !isFrozen(loaded)) return [];
    if (trainer.has("peft_config") || opens.test(model.document.text)) return [];
    const { callee } = loaded;
    const message = `This run trains nothing: \`${callee}\` loads the adapter frozen, and the trainer takes it as it is. Add \`is_trainable=True\`.`;
    const at = trainer.place({ ...loaded, end: loaded.start + callee.length }, "model");
    return [{ message, at, fixes: fixesOf(loaded, model) }];
  },
});

/** What a script calls or sets that makes weights train after all. */
const opens =
  /\brequires_grad|\bis_trainable\b|\bmerge_and_unload\b|\b(?:add|set|load|enable)_adapters?\b|\bget_peft_model\b|\bfor_training\b/;

/** `is_trainable` is the fourth of its arguments; by its name it is found in the text. */
const isFrozen = ({ callee, positional, spreads }: Call): boolean =>
  loadsAdapter(callee) && spreads.length === 0 && positional.length < 4;

function fixesOf({ end }: Call, { document: { text } }: RuleModel): Fix[] {
  if (text[end - 1] !== ")") return [];
  const before = text.slice(0, end - 1).trimEnd();
  const at = before.length;
  const newText = before.endsWith(",") ? " is_trainable=True" : ", is_trainable=True";
  const range = new Lines(text).range({ start: at, end: at });
  return [{ title: "Add `is_trainable=True`", edits: [{ range, newText }] }];
}
