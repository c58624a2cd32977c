import { branches, childrenOf, firstsOf } from "../../core/config/branchFacts.ts";
import { eachRlStage, pathIn, placeOf, reportAt, type Rule } from "../rule.ts";

export const branchGroup: Rule = {
  id: "branch-group",
  title: "Group size that does not fit the branches",
  why: "With `rollout.branch` a group is n1 first rollouts and n2 branches of each: n1 · (1 + n2) rollouts (CURE: 4 · (1 + 3) = 16). With any other size the last of the first rollouts would have fewer branches than the others, and in a group smaller than 1 + n2 even the only first rollout would.\n\nMake the group a multiple of 1 + `rollout.branch.children`.",
  check: eachRlStage((view, model) => {
    const { rollout } = view.config.body;
    const each = 1 + childrenOf(rollout);
    if (!branches(rollout) || rollout.group % each === 0) return;
    const more = each * firstsOf(rollout.group, each - 1);
    const fewer = more - each;
    const path = pathIn(view, placeOf(view.body, "rollout", "group"), "rollout", "group");
    const paths = [
      ["rollout", "group"],
      ["rollout", "branch", "children"],
      ["rollout", "branch"],
    ];
    reportAt(model, view, branchGroup, paths, {
      severity: "error",
      message: `A group of ${rollout.group} is not n1 · (1 + ${each - 1}): first rollouts and \`rollout.branch.children: ${each - 1}\` branches of each make groups of ${each}, ${2 * each}, ${3 * each}, …`,
      fileFixes: [
        model.edits.set(path, String(more), `Change \`rollout.group\` to ${more}`),
        fewer > 0
          ? model.edits.set(path, String(fewer), `Change \`rollout.group\` to ${fewer}`, false)
          : undefined,
      ],
    });
  }),
};
