import type { RuleDiagnostic, RuleModel } from "../../../../rules/rule.ts";
import { diagnosticAt } from "../../../../rules/placed.ts";
import { trlRule } from "../../trlRule.ts";

const level = "importance_sampling_level";
const summed = ["bnpo", "dr_grpo", "dapo", "cispo"];

export const sequenceLevel = trlRule({
  id: "trl-sequence-level",
  severity: "warning",
  title: "Importance ratio does not fit the loss",
  why: "A loss that sums over tokens weights a sequence's single ratio by the length of the completion, which is not what GSPO optimises (Group Sequence Policy Optimization: `loss_type: grpo`). LUSPO is defined with a sequence ratio; VESPO computes its own from token ratios. `GRPOTrainer.__init__` (trl/trainer/grpo_trainer.py) warns of each and continues.",
  check(model) {
    const [loss, ratio] = [model.text("loss_type"), model.text(level)];
    if (loss === undefined || ratio === undefined) return [];
    if (loss === "luspo" && ratio !== "sequence")
      return diagnosticOf(model, `LUSPO needs \`${level}: sequence\`, not \`${ratio}\`.`);
    if (loss === "vespo" && ratio !== "token")
      return diagnosticOf(
        model,
        `VESPO computes its sequence ratio from \`${level}: token\`, not from \`${ratio}\`.`,
      );
    if (ratio === "sequence" && summed.includes(loss)) return diagnosticOf(model, weighted(model, loss));
    return [];
  },
});

const weighted = (model: RuleModel, loss: string): string =>
  `\`${level}: sequence\` with the loss \`${loss}\`${model.written("loss_type") === undefined ? ", the default," : ""} weights each sequence by its length: for GSPO use \`loss_type: grpo\`.`;

const diagnosticOf = (model: RuleModel, message: string): RuleDiagnostic[] =>
  diagnosticAt(model, [level, "loss_type"], message);
