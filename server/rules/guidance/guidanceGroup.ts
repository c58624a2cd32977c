import { helps } from "../../core/config/guidanceFacts.ts";
import { eachRlStage, pathIn, placeOf, reportAt, type Rule } from "../rule.ts";

export const guidanceGroup: Rule = {
  id: "guidance-group",
  title: "Help for failed groups of one rollout",
  why: "`guidance.trigger: all_fail` helps groups in which every rollout failed. In a group of one that is every failure, and the helped rollout has no other rollout to be compared with: with a group baseline its advantage is 0.\n\nMake the group larger, or let helped rollouts join it (`place: append`).",
  check: eachRlStage((view, model) => {
    const { guidance, rollout } = view.config.body;
    if (!helps(guidance) || rollout.group > 1) return;
    if (guidance.trigger.declaration.name !== "all_fail" || guidance.place === "append") return;
    reportAt(model, view, guidanceGroup, [["guidance", "trigger"], ["rollout", "group"], ["guidance"]], {
      severity: "warning",
      message:
        "With `rollout.group: 1` the helped rollout is alone in its group, so it has nothing to be compared with: use a group of at least 2, or `guidance.place: append`.",
      fileFixes: [
        model.edits.set(
          pathIn(view, placeOf(view.body, "guidance"), "guidance", "place"),
          "append",
          "Set `guidance.place: append`: the failed rollout stays in the group",
          false,
        ),
      ],
    });
  }),
};
