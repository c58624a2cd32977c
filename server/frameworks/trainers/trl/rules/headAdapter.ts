import type { RuleDiagnostic, RuleModel } from "../../../rules/rule.ts";
import { placed } from "../../../rules/placed.ts";
import { adapterOf, adaptsHead } from "../adapters.ts";
import { trainerOf } from "../python.ts";
import { trlRule } from "../trlRule.ts";

export const headAdapter = trlRule({
  id: "trl-head-adapter",
  title: "Adapter on `lm_head`",
  why: "TRL computes log-probabilities from the weights of `lm_head` itself, so an adapter on it would never be trained: `GRPOTrainer.__init__` (trl/trainer/grpo_trainer.py) refuses it since TRL 1.15, and together with `cast_lm_head_to_fp32` since 1.9.",
  check(model) {
    if (adapterOf(model) === undefined || !adaptsHead(model)) return [];
    if (model.since("1.15.0"))
      return [
        diagnosticOf(
          model,
          "computes log-probabilities from its weights alone, so the adapter would never be trained",
        ),
      ];
    const cast = model.since("1.9.0") && model.flag("cast_lm_head_to_fp32") === true;
    return cast
      ? [diagnosticOf(model, "cannot cast a layer that carries an adapter (`cast_lm_head_to_fp32`)")]
      : [];
  },
});

function diagnosticOf(model: RuleModel, reason: string): RuleDiagnostic {
  const message = `The adapter covers \`lm_head\`, and TRL ${reason}: remove \`lm_head\` from its target modules.`;
  const trainer = trainerOf(model);
  const place = placed(model, "lora_target_modules", "cast_lm_head_to_fp32");
  return trainer === undefined ? { message, ...place } : { message, at: trainer.setting("peft_config") };
}
