import { lackOfHeads } from "./heads.ts";
import { headLogpChannel } from "../../core/channelNames.ts";
import { eachStage, reportAt, type Rule } from "../rule.ts";

/** What perturbs the policy's logits are heads of the policy with a value for every word. */
export const perturbHead: Rule = {
  id: "perturb-head",
  title: "Perturbation by a head without a value per vocabulary entry",
  why: "`rollout.perturb` adds β times the lowest value of some heads to the logits, one value per vocabulary entry. The heads must belong to the policy and have a value for every vocabulary entry: `{ name: q1, words: true }` in `model.value_heads`. A head of a copy or of another model reads other hidden states.",
  check: eachStage((view, model) => {
    const { perturb } = view.config.body.rollout;
    if (perturb === undefined) return;
    const lack = lackOfHeads(perturb.heads.map(headLogpChannel), model.config.model.heads ?? []);
    if (lack === undefined) return;
    const { missing, narrow, value } = lack;
    const problem =
      missing.length > 0
        ? `The policy has no head ${missing.join(", ")} to perturb its logits`
        : `${narrow.join(", ")} of the policy ${narrow.length === 1 ? "has" : "have"} one value, not one per vocabulary entry`;
    reportAt(model, view, perturbHead, [["rollout", "perturb", "heads"]], {
      message: `${problem}: write \`model.value_heads: ${value}\`.`,
      fileFixes: [
        model.edits.set(["model", "value_heads"], value, `Set \`model.value_heads\` to \`${value}\``),
      ],
    });
  }),
};
