import { lackOfHeads } from "./heads.ts";
import { headLogpChannel } from "../../core/channelNames.ts";
import { placeOf, underneath, type Rule } from "../rule.ts";

/** What perturbs the policy's logits are heads of the policy with a value for every word. */
export const perturbHead: Rule = {
  id: "perturb-head",
  title: "Perturbation by a head that has no value for every word",
  why: "`rollout.perturb` adds β times the least value of some heads to the logits, word by word. They have to be heads of the policy with a value for every word, `{ name: q1, words: true }` in `model.value_heads`; a copy's or another model's stand on other states.",
  check({ config, stages, root, report, edits }) {
    for (const view of stages) {
      const { perturb } = view.config.body.rollout;
      if (perturb === undefined) continue;
      const lack = lackOfHeads(perturb.heads.map(headLogpChannel), config.model.heads ?? []);
      if (lack === undefined) continue;
      const { missing, narrow, value } = lack;
      const at = placeOf(view.body, "rollout", "perturb", "heads") ?? root.origin;
      const problem =
        missing.length > 0
          ? `The policy has no head ${missing.join(", ")} to perturb its logits`
          : `${narrow.join(", ")} of the policy ${narrow.length === 1 ? "has" : "have"} one value, not one for every word`;
      report({
        rule: perturbHead.id,
        message: `${problem}: write \`model.value_heads: ${value}\`.`,
        key: underneath(view, at, "rollout.perturb.heads"),
        at,
        mends: [edits.set(["model", "value_heads"], value, `Set \`model.value_heads\` to \`${value}\``)],
      });
    }
  },
};
