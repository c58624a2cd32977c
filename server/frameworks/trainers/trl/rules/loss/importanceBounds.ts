import type { RuleDiagnostic, RuleModel } from "../../../../rules/rule.ts";
import { diagnosticAt } from "../../../../rules/placed.ts";
import { trlRule } from "../../trlRule.ts";

const [low, high] = ["vllm_importance_sampling_clip_min", "vllm_importance_sampling_clip_max"];
const cap = "vllm_importance_sampling_cap";

export const importanceBounds = trlRule({
  id: "trl-importance-bounds",
  title: "Invalid bounds of the importance ratio",
  why: "TRL cuts the ratio between the trainer's probabilities and vLLM's to an interval. `GRPOConfig.__post_init__` (trl/trainer/grpo_config.py) refuses a lower bound that is not below the upper one, and a mode that truncates without any bound, since TRL 1.6. `vllm_importance_sampling_cap` is the upper bound's old name and wins over it.",
  check: (model) => (model.since("1.6.0") ? [...crossed(model), ...missing(model)] : []),
});

const upper = (model: RuleModel): number | null | undefined => {
  const old = model.value(cap);
  return bound(model, old === undefined || old === null ? high : cap);
};

/** null: there is none. */
const bound = (model: RuleModel, key: string): number | null | undefined =>
  model.value(key) === null ? null : model.number(key);

function crossed(model: RuleModel): RuleDiagnostic[] {
  const [least, most] = [bound(model, low), upper(model)];
  if (typeof least !== "number" || typeof most !== "number" || least < most) return [];
  const message = `The importance ratio is cut to ${least} … ${most}: TRL refuses a lower bound that is not below the upper one.`;
  return diagnosticAt(model, [low, cap, high], message);
}

function missing(model: RuleModel): RuleDiagnostic[] {
  const mode = model.text("vllm_importance_sampling_mode");
  const corrects = model.flag("vllm_importance_sampling_correction") === true;
  if (!corrects || mode === undefined || !mode.endsWith("_truncate")) return [];
  if (bound(model, low) !== null || upper(model) !== null) return [];
  const message = `\`vllm_importance_sampling_mode: ${mode}\` truncates the ratio, but neither \`${low}\` nor \`${high}\` is set: TRL refuses it. The default upper bound is 3.0.`;
  return diagnosticAt(model, ["vllm_importance_sampling_mode", high, low], message);
}
