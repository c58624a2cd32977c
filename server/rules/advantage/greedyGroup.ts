import { comparesSiblings } from "../../config/siblings.ts";
import { scheduledRange } from "../ranges.ts";
import { eachRlStage, reportAt, type Rule } from "../rule.ts";

/** Rollouts of a group differ, where a method compares them. */
export const greedyGroup: Rule = {
  id: "greedy-group",
  title: "Greedy sampling with a method that compares rollouts of a group",
  why: "At temperature 0, or when only the likeliest token is kept (`top_k: 1`), all rollouts of a task are the same text. Their rewards are equal, so every advantage that compares rollouts of a group is 0 and nothing is learned.\n\nSample at `temperature: 1` without `top_k`: most policy-gradient methods assume this, because their ratios are those of the unfiltered distribution.",
  check: eachRlStage((view, model) => {
    const { rollout, advantage } = view.config.body;
    const compares = comparesSiblings(advantage.baseline) || comparesSiblings(advantage.scale);
    if (rollout.group < 2 || !compares) return;
    const cold = scheduledRange(rollout.temperature)[1] === 0;
    if (!cold && rollout.top_k !== 1) return;
    const key = cold ? "temperature" : "top_k";
    const method = comparesSiblings(advantage.baseline) ? advantage.baseline : advantage.scale;
    const multiple = model.stages.length > 1;
    reportAt(model, view, greedyGroup, [["rollout", key], ["rollout"]], {
      severity: "warning",
      message: `With \`${key}: ${cold ? 0 : 1}\` the ${rollout.group} rollouts of a task are the same text. \`${method.declaration.name}\` compares them, so every advantage is 0.`,
      fileFixes: multiple
        ? []
        : [
            cold
              ? model.edits.set(["rollout", "temperature"], "1", "Sample at temperature 1")
              : model.edits.set(["rollout", "top_k"], "0", "Keep all tokens: `top_k: 0`"),
          ],
    });
  }),
};
