import type { RuleDiagnostic, RuleModel } from "../../../../rules/rule.ts";
import { refusedByTrainer } from "../../python.ts";
import { diagnosticAt, placed } from "../../../../rules/placed.ts";
import { trlRule } from "../../trlRule.ts";

/** Losses whose reward is a difference, to which another divergence applies. */
const divergent = ["sigmoid", "sigmoid_norm", "hinge", "ipo", "exo_pair", "robust", "discopop", "sft"];

function ofDpo(model: RuleModel): RuleDiagnostic[] {
  const value = model.value("loss_type");
  const losses = Array.isArray(value) ? value.map(String) : typeof value === "string" ? [value] : [];
  const found: RuleDiagnostic[] = [];
  const divergence = model.text("f_divergence_type");
  const strange = losses.find((loss) => !divergent.includes(loss));
  if (
    divergence !== undefined &&
    divergence !== "reverse_kl" &&
    strange !== undefined &&
    model.since("1.0.0")
  )
    found.push({
      message: `\`f_divergence_type\` \`${divergence}\` does not apply to the loss \`${strange}\`: TRL allows it for ${divergent.join(", ")}.`,
      ...placed(model, "f_divergence_type", "loss_type"),
    });
  if (losses.includes("exo_pair") && model.number("label_smoothing") === 0)
    found.push({
      message: "The loss `exo_pair` needs a `label_smoothing` above 0: its paper uses 0.001.",
      ...placed(model, "label_smoothing", "loss_type"),
    });
  const sorted = losses.find((loss) => /^aot(_pair|_unpaired)?$/.test(loss));
  if (model.flag("use_weighting") === true && sorted !== undefined && model.since("1.0.0"))
    found.push({
      message: `\`use_weighting\` weights pairs, but the loss \`${sorted}\` sorts chosen and rejected samples separately: TRL refuses both together.`,
      ...placed(model, "use_weighting", "loss_type"),
    });
  return found;
}

function ofKto(model: RuleModel): RuleDiagnostic[] {
  if (model.text("loss_type") !== "kto" || !model.since("1.0.0")) return [];
  const found: RuleDiagnostic[] = [];
  const sampling = model.text("train_sampling_strategy");
  if (
    model.fact("train_sampling_strategy")?.default === "sequential" &&
    sampling !== undefined &&
    sampling !== "sequential"
  )
    found.push({
      message: `The loss \`kto\` compares neighbours of a batch, so their order must not change: \`train_sampling_strategy\` must be \`sequential\`, not \`${sampling}\`.`,
      ...placed(model, "train_sampling_strategy", "loss_type"),
    });
  const batch = model.number("per_device_train_batch_size");
  if (batch !== undefined && batch <= 1)
    found.push({
      message:
        "The loss `kto` compares neighbours of a batch, and `per_device_train_batch_size` is 1: it needs at least 2.",
      ...placed(model, "per_device_train_batch_size", "loss_type"),
    });
  return found;
}

function ofReference(model: RuleModel): RuleDiagnostic[] {
  if (model.flag("sync_ref_model") !== true || model.flag("precompute_ref_log_probs") !== true) return [];
  const message =
    "`precompute_ref_log_probs` needs a fixed reference model, and `sync_ref_model` changes it: TRL refuses both together.";
  return diagnosticAt(model, ["sync_ref_model", "precompute_ref_log_probs"], message);
}

export const preferenceLoss = trlRule({
  id: "trl-preference-loss",
  trees: ["dpo", "kto"],
  title: "Preference loss with a conflicting setting",
  why: "`DPOTrainer.__init__` (trl/trainer/dpo_trainer.py) refuses another divergence for losses that are not a difference of rewards, EXO without label smoothing, weights for losses that sort their samples, and precomputed log-probabilities of a reference model that changes. `KTOTrainer.__init__` (trl/trainer/kto_trainer.py) estimates the KL divergence from neighbours in a batch of fixed order, so it needs at least two.",
  check(model) {
    const own = model.document.tree === "dpo" ? ofDpo(model) : ofKto(model);
    return [...own, ...ofReference(model)]
      .filter(({ at }) => at !== undefined)
      .map((diagnostic) => ({ ...diagnostic, severity: refusedByTrainer(model) }));
  },
});
