import { switchTo } from "../../../rules/fix.ts";
import { refusedByTrainer } from "../python.ts";
import { placed } from "../../../rules/placed.ts";
import { trlRule } from "../trlRule.ts";

export const paddingFree = trlRule({
  id: "trl-padding-free",
  trees: ["sft"],
  title: "Padding-free training ignores `max_length`",
  why: "Without padding TRL joins samples as they are: `SFTTrainer.__init__` (trl/trainer/sft_trainer.py) refuses `padding_free` with a `max_length` unless `packing` cuts them. `max_length` is 1024 by default.",
  check(model) {
    const length = model.value("max_length");
    if (model.flag("padding_free") !== true || model.flag("packing") !== false) return [];
    if (length === undefined || length === null || !model.since("1.0.0")) return [];
    const { at, related } = placed(model, "padding_free", "max_length", "packing");
    const message = `\`padding_free\` without \`packing\` ignores \`max_length\` ${String(length)}: TRL refuses it. Switch \`packing\` on, or set \`max_length\` to null.`;
    if (at === undefined) return [];
    return [{ at, related, message, severity: refusedByTrainer(model), fixes: switchTo(model, at, false) }];
  },
});
