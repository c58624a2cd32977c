import type { Severity } from "../../../../config/check/diagnostic.ts";
import type { Setting } from "../../../text/document.ts";
import type { RuleDiagnostic, RuleModel } from "../../../rules/rule.ts";
import { switches, type Switch } from "../switches.ts";
import { trlRule } from "../trlRule.ts";

export const unread = trlRule({
  id: "trl-unread",
  severity: "warning",
  title: "Setting never read",
  why: "Many of TRL's settings count only while another one is on: those of vLLM with `use_vllm`, those of a loss with that `loss_type`, those of the reference model with `beta` above 0 (trl/trainer/grpo_trainer.py). Otherwise TRL accepts them and never reads them. If the file does not set the other one, and the command line may, it is an info.",
  check: (model) => switches.flatMap((one) => ofSwitch(model, one)),
});

function ofSwitch(model: RuleModel, one: Switch): RuleDiagnostic[] {
  if (one.forms !== undefined && !one.forms.includes(model.document.form)) return [];
  const reason = one.off(model);
  if (reason === undefined) return [];
  const by = one.by.flatMap((key) => model.written(key) ?? []);
  const severity: Severity = by.length === 0 && model.document.form === "yaml" ? "info" : "warning";
  return one.keys
    .flatMap((key) => model.written(key) ?? [])
    .filter((at) => counts(model, at))
    .map((at) => ({ at, severity, related: by, message: `\`${at.key}\` is never read: ${reason}.` }));
}

/** Writing out a default is harmless. */
const counts = (model: RuleModel, { key, value }: Setting): boolean =>
  value !== null && value !== false && JSON.stringify(value) !== JSON.stringify(model.fact(key)?.default);
