import type { Fix } from "../../../../../config/check/diagnostic.ts";
import type { Setting } from "../../../../text/document.ts";
import { changeTo } from "../../../../rules/fix.ts";
import { diagnosticAt } from "../../../../rules/placed.ts";
import { trlRule } from "../../trlRule.ts";

const mode = "vllm_importance_sampling_mode";
const fitting = ["token_truncate", "token_mask"];

export const vespoMode = trlRule({
  id: "trl-vespo-mode",
  title: "VESPO with a sequence ratio",
  why: "VESPO weights tokens by their own ratio, so with vLLM and its importance correction `GRPOTrainer.__init__` (trl/trainer/grpo_trainer.py) takes only `token_truncate` and `token_mask`. The default mode is `sequence_mask`: VESPO with vLLM fails until another mode is set.",
  check(model) {
    const value = model.text(mode);
    const corrects = model.flag("vllm_importance_sampling_correction") === true;
    if (model.text("loss_type") !== "vespo" || model.flag("use_vllm") !== true || !corrects) return [];
    if (value === undefined || fitting.includes(value)) return [];
    const message = `VESPO with vLLM needs \`${mode}\` to be \`token_truncate\` or \`token_mask\`, but it is \`${value}\`${model.written(mode) === undefined ? " by default" : ""}.`;
    return diagnosticAt(model, [mode, "loss_type"], message, { fixes: fixesOf(model.written(mode)) });
  },
});

const fixesOf = (written: Setting | undefined): Fix[] =>
  fitting
    .flatMap((value) => changeTo(written, value, `Change to \`${value}\``, false))
    .map((fix) => quoted(fix, written));

/** Keeps the quotes of what is written. */
function quoted(fix: Fix, written: Setting | undefined): Fix {
  const mark = /^["']/.exec(written?.text ?? "")?.[0] ?? "";
  return { ...fix, edits: fix.edits.map((edit) => ({ ...edit, newText: `${mark}${edit.newText}${mark}` })) };
}
