import type { Setting } from "../../../../text/document.ts";
import type { RuleDiagnostic, RuleModel } from "../../../../rules/rule.ts";
import { adaptsHead } from "../../adapters.ts";
import { trlRule } from "../../trlRule.ts";

export const ligerLoss = trlRule({
  id: "trl-liger-loss",
  title: "Setting that Liger's loss lacks",
  why: "Until TRL 1.13 `use_liger_kernel` (`use_liger_loss` before 0.28) computes the whole loss in one kernel. The kernel cannot mask off-policy sequences, cannot select the tokens with the highest entropy, has no entropy bonus, and ignores an adapter on `lm_head`: `GRPOTrainer.__init__` and `GRPOConfig.__post_init__` refuse them. Two-sided clipping (`delta`) came with TRL 1.4, sequence ratios with TRL 1.0. Since TRL 1.14 Liger serves the layers alone, and since 1.15 TRL refuses its fused cross-entropy.",
  check(model) {
    const at = ["use_liger_kernel", "use_liger_loss"].flatMap((key) =>
      model.flag(key) === true ? (model.written(key) ?? []) : [],
    )[0];
    if (at === undefined) return [];
    return model.since("1.14.0") ? fused(model, at) : whole(model, at);
  },
});

function whole(model: RuleModel, liger: Setting): RuleDiagnostic[] {
  const found = (key: string, says: string): RuleDiagnostic[] => {
    const at = model.written(key);
    return at === undefined
      ? []
      : [
          {
            at,
            message: `\`${liger.key}\` ${says}: TRL ${model.document.version.text} refuses both together.`,
            related: [liger],
          },
        ];
  };
  const [quantile, entropy] = [model.number("top_entropy_quantile"), model.number("entropy_coef")];
  return [
    ...(set(model, "off_policy_mask_threshold")
      ? found("off_policy_mask_threshold", "cannot mask off-policy sequences")
      : []),
    ...(quantile !== undefined && quantile < 1
      ? found("top_entropy_quantile", "cannot select tokens by their entropy")
      : []),
    ...(entropy !== undefined && entropy !== 0 ? found("entropy_coef", "has no entropy bonus") : []),
    ...(model.flag("use_adaptive_entropy") === true
      ? found("use_adaptive_entropy", "has no entropy bonus")
      : []),
    ...(set(model, "delta") && !model.since("1.4.0") ? found("delta", "cannot clip on two sides") : []),
    ...(sequences(model) ? found("importance_sampling_level", "has token ratios only") : []),
    ...(adaptsHead(model) && model.since("1.7.0")
      ? found(
          model.document.form === "python" ? "use_liger_kernel" : "lora_target_modules",
          "reads the weights of `lm_head` without their adapter",
        )
      : []),
  ];
}

const set = (model: RuleModel, key: string): boolean => typeof model.value(key) === "number";

const sequences = (model: RuleModel): boolean =>
  model.text("importance_sampling_level") === "sequence" && !model.since("1.0.0");

function fused(model: RuleModel, liger: Setting): RuleDiagnostic[] {
  const config = model.written("liger_kernel_config");
  if (
    config === undefined ||
    !model.since("1.15.0") ||
    !/fused_linear_cross_entropy["']?\s*[:=]\s*true\b/i.test(config.text)
  )
    return [];
  const message =
    "TRL refuses `fused_linear_cross_entropy`: it replaces the model's forward pass, in which TRL computes its own log-probabilities.";
  return [{ at: config, message, related: [liger] }];
}
