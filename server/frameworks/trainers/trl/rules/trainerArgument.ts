import { nearest } from "../../../../lib/suggest.ts";
import type { Fix } from "../../../../config/check/diagnostic.ts";
import { replace } from "../../../../config/check/report.ts";
import { hasTree } from "../../../releases/facts.ts";
import type { RuleDiagnostic, RuleModel } from "../../../rules/rule.ts";
import { historyOf, keyTable, tableOf } from "../../../releases/load.ts";
import { trainerOf, type TrainerCall } from "../python.ts";
import { everyTrainer, trainerOfTree } from "../../../releases/programs/trl.ts";
import { movesArgument } from "../unsloth.ts";
import { trlRule } from "../trlRule.ts";

export const trainerArgument = trlRule({
  id: "trl-trainer-argument",
  trees: everyTrainer,
  title: "Unknown trainer argument",
  why: "Python refuses a keyword that `__init__` of the trainer's class does not name (trl/trainer/grpo_trainer.py and its neighbours). Training settings belong in `args`. The tokenizer is `processing_class` since TRL 0.16, which removed `tokenizer`.",
  check(model) {
    const { version, tree } = model.document;
    const kind = trainerOfTree(tree);
    const trainer = trainerOf(model);
    // An installed release that the tables lack may take others.
    if (kind === undefined || trainer === undefined || !hasTree("trl", version, kind.trainer)) return [];
    if (version.folder !== undefined && version.table !== version.text) return [];
    const taken = keyTable("trl", version.table, kind.trainer).keys;
    return trainer.call.keywords
      .map(({ name }) => name)
      .filter((name) => !taken.includes(name))
      .filter((name) => !movesArgument(model.document, name, model.fact(name)?.owner === "config"))
      .map((name) => softenedIfPatched(model, diagnosticOf(model, trainer, name, taken)));
  },
});

/** Unsloth's trainers drop what they do not know. */
const softenedIfPatched = ({ document: { patched } }: RuleModel, found: RuleDiagnostic): RuleDiagnostic =>
  patched === undefined ? found : { ...found, severity: "warning" };

function diagnosticOf(
  model: RuleModel,
  trainer: TrainerCall,
  name: string,
  taken: readonly string[],
): RuleDiagnostic {
  const { version, tree } = model.document;
  const { trainer: title = "", config = "" } = trainerOfTree(tree) ?? {};
  const at = trainer.setting(name);
  const refused = `\`${title}\` of TRL ${version.text} has no argument \`${name}\``;
  const renamed = name === "tokenizer" ? "processing_class" : nearest(name, taken);
  const since = historyOf("trl", name, title)[0]?.from;
  if (model.fact(name)?.owner === "config" || (model.fact(name) !== undefined && renamed === undefined))
    return { at, onKey: true, message: `${refused}: it is an argument of \`${config}\`.` };
  if (since !== undefined && tableOf("trl").versions.indexOf(version.table) < since)
    return { at, onKey: true, message: `${refused}: it came with ${tableOf("trl").versions[since] ?? ""}.` };
  const fixes: Fix[] =
    renamed === undefined || trainer.has(renamed)
      ? []
      : [replace(at.keyRange, renamed, `Change to \`${renamed}\``)];
  const hint = renamed === undefined ? "." : `. Did you mean \`${renamed}\`?`;
  return { at, onKey: true, message: `${refused}${hint}`, fixes };
}
