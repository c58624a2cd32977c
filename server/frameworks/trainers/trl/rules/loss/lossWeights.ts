import type { RuleModel } from "../../../../rules/rule.ts";
import { plural } from "../../../../../../shared/lib/format.ts";
import type { Json } from "../../../../../../shared/lib/json.ts";
import { diagnosticAt } from "../../../../rules/placed.ts";
import { trlRule } from "../../trlRule.ts";

export const lossWeights = trlRule({
  id: "trl-loss-weights",
  trees: ["dpo"],
  title: "Wrong number of loss weights",
  why: "`loss_type` of DPO may name several losses, and `loss_weights` has one weight for each, in their order: `DPOConfig.__post_init__` (trl/trainer/dpo_config.py) refuses another number.",
  check(model) {
    const weights = model.value("loss_weights");
    const losses = namesOf(model.value("loss_type"));
    if (!Array.isArray(weights) || losses === undefined || weights.length === losses) return [];
    return diagnosticAt(model, ["loss_weights", "loss_type"], messageOf(model, weights.length, losses));
  },
});

const namesOf = (value: Json | undefined): number | undefined =>
  Array.isArray(value) ? value.length : typeof value === "string" ? 1 : undefined;

function messageOf(model: RuleModel, weights: number, losses: number): string {
  const by = model.written("loss_type") === undefined ? ", the default" : "";
  return `\`loss_weights\` has ${plural(weights, "weight")}, and \`loss_type\` names ${losses === 1 ? "1 loss" : `${losses} losses`}${by}: TRL needs one for each.`;
}
