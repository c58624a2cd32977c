import { listed, nearest } from "../../../../lib/suggest.ts";
import { setTo } from "../fixes.ts";
import { found, lacking, namesPlugIn, rollout, verlRule } from "../rule.ts";
import type { RuleDiagnostic, RuleModel } from "../../../rules/rule.ts";

const [key, split] = [`${rollout}.name`, `${rollout}.disaggregation.enabled`];

function named(model: RuleModel, name: string): RuleDiagnostic[] {
  const engines = model.since("0.7.1") ? ["vllm", "sglang", "trtllm"] : ["vllm", "sglang"];
  // `hf` generated with Transformers until servers replaced it.
  if (engines.includes(name) || !model.since("0.7.0") || namesPlugIn(model)) return [];
  const meant = nearest(name, engines);
  const message = `verl ${model.document.version.text} has no inference engine \`${name}\`. It has ${listed(engines)}.`;
  return found(model, [key], message, {
    fixes: [meant === undefined ? undefined : setTo(model, key, meant)],
  });
}

function disaggregated(model: RuleModel, name: string): RuleDiagnostic[] {
  if (model.flag(split) !== true || /^(vllm|sglang)$/.test(name)) return [];
  const message = `\`rollout.disaggregation\` works with vLLM and SGLang only, but the engine is \`${name}\`.`;
  return found(model, [split, key], message, { fixes: [setTo(model, split, false)] });
}

export const rolloutEngine = verlRule({
  id: "verl-rollout-engine",
  title: "Missing or unknown inference engine",
  why: "`actor_rollout_ref.rollout.name` has no default (`???` in verl/trainer/config/rollout/rollout.yaml) and must be set; `get_rollout_class` (verl/workers/rollout/base.py) lists the engines. `RolloutConfig.__post_init__` (verl/workers/config/rollout.py) allows disaggregation for vLLM and SGLang only.",
  check(model) {
    const name = model.text(key);
    if (name === undefined) return [];
    if (name === "???") {
      const message =
        "`actor_rollout_ref.rollout.name` is not set and has no default: set the inference engine, `vllm` or `sglang`.";
      return lacking(model, message, { fixes: [setTo(model, key, "vllm")] });
    }
    return [...named(model, name), ...disaggregated(model, name)];
  },
});
