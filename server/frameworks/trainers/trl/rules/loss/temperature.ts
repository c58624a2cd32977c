import type { RuleDiagnostic, RuleModel } from "../../../../rules/rule.ts";
import { changes } from "../../../../rules/multiples.ts";
import { trlRule } from "../../trlRule.ts";

export const temperature = trlRule({
  id: "trl-temperature",
  title: "Sampling without randomness",
  why: "The completions of a group are compared with each other; without randomness they are equal, and every advantage is zero. Transformers' generation refuses a `temperature` of 0 or below, and since TRL 1.14 so does `add_fused_lm_head` (trl/trainer/utils.py), which divides logits by it. Nothing refuses `top_k: 1`.",
  check: (model) => [...frozen(model), ...single(model)],
});

function frozen(model: RuleModel): RuleDiagnostic[] {
  const [at, value] = [model.written("temperature"), model.number("temperature")];
  if (at === undefined || value === undefined || value > 0) return [];
  const refused = model.since("1.14.0") || model.flag("use_vllm") === false;
  const ends = refused
    ? "TRL divides logits by it and refuses it"
    : "vLLM then generates the same every time, and logits are divided by 0";
  const message = `\`temperature\` is ${value}: ${ends}. A group needs completions that differ: the default is 1.`;
  return [{ at, message, severity: refused ? "error" : "warning", fixes: changes(at, [1]) }];
}

function single(model: RuleModel): RuleDiagnostic[] {
  const at = model.written("top_k");
  if (at === undefined || model.number("top_k") !== 1) return [];
  const message =
    "`top_k` is 1, so every completion of a prompt is the same, rewards within a group are equal, and every advantage is zero: 0 switches `top_k` off.";
  return [{ at, message, severity: "warning", fixes: changes(at, [0]) }];
}
