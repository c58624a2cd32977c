import { plural } from "../../../../../../shared/lib/format.ts";
import type { Json } from "../../../../../../shared/lib/json.ts";
import type { Setting } from "../../../../text/document.ts";
import type { RuleDiagnostic, RuleModel } from "../../../../rules/rule.ts";
import { trainerOf } from "../../python.ts";
import { rewardsOf, type NamedRewards } from "../../rewards.ts";
import { rewarded } from "../../../../releases/programs/trl.ts";
import { trlRule } from "../../trlRule.ts";

export const rewardWeights = trlRule({
  id: "trl-reward-weights",
  trees: rewarded,
  title: "Wrong number of reward weights",
  why: "`reward_weights` holds one weight for each reward function, in their order (a reward model comes first), and `reward_processing_classes` one tokenizer for each: `GRPOTrainer.__init__` in trl/trainer/grpo_trainer.py refuses other numbers. It accepts weights that are all zero; then every advantage is zero.",
  check(model) {
    const weights = model.written("reward_weights");
    const rewards = rewardsOf(model);
    const values = listed(weights?.value);
    return [
      ...(weights === undefined || values === undefined ? [] : weighed(weights, values, rewards)),
      ...tokenizers(model, rewards),
    ];
  },
});

const listed = (value: Json | undefined): readonly Json[] | undefined =>
  Array.isArray(value) ? value : typeof value === "number" ? [value] : undefined;

function weighed(at: Setting, values: readonly Json[], rewards: NamedRewards | undefined): RuleDiagnostic[] {
  const count = rewards?.rewards.length;
  if (rewards !== undefined && count !== undefined && count !== values.length) {
    const names = rewards.rewards.map(({ written }) => `\`${written}\``).join(", ");
    const message = `\`reward_weights\` has ${plural(values.length, "weight")} for ${plural(count, "reward")} (${names}): TRL needs one for each.`;
    return [{ at, message, related: [rewards.at] }];
  }
  if (values.length === 0 || values.some((value) => Number(value) !== 0)) return [];
  const message =
    "All `reward_weights` are zero, so every reward and every advantage is 0 and nothing is learned: give at least one reward a weight.";
  return [{ at, message, severity: "warning" }];
}

function tokenizers(model: RuleModel, rewards: NamedRewards | undefined): RuleDiagnostic[] {
  const given = trainerOf(model)?.get("reward_processing_classes");
  if (rewards === undefined || given?.kind !== "list" || given.items.length === rewards.rewards.length)
    return [];
  const at = trainerOf(model)?.setting("reward_processing_classes");
  const message = `\`reward_processing_classes\` has ${given.items.length} for ${plural(rewards.rewards.length, "reward")}: TRL needs one for each, None where a reward is a function.`;
  return [{ at, message, related: [rewards.at] }];
}
