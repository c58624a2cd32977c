import { comparesSiblings } from "../../config/siblings.ts";
import { scheduledRange } from "../ranges.ts";
import { tell, type Rule } from "../rule.ts";

/** Rollouts of a group differ, where a method compares them. */
export const greedyGroup: Rule = {
  id: "greedy-group",
  title: "Greedy groups under a method that compares siblings",
  why: "At temperature 0, or with only the likeliest token kept (`top_k: 1`), all rollouts of a task are the same text. Their rewards are the same, so every advantage that compares siblings is 0 and nothing is learned.\n\nSample: `temperature: 1` without `top_k` is what most policy-gradient methods assume, since their ratios are of the unfiltered distribution.",
  check(model) {
    for (const view of model.stages) {
      const { rollout, advantage } = view.config.body;
      const compares = comparesSiblings(advantage.baseline) || comparesSiblings(advantage.scale);
      if (view.config.kind !== "rl" || rollout.group < 2 || !compares) continue;
      const cold = scheduledRange(rollout.temperature)[1] === 0;
      if (!cold && rollout.top_k !== 1) continue;
      const key = cold ? "temperature" : "top_k";
      const method = comparesSiblings(advantage.baseline) ? advantage.baseline : advantage.scale;
      const multiple = model.stages.length > 1;
      tell(model, view, greedyGroup, [["rollout", key], ["rollout"]], {
        severity: "warning",
        message: `With \`${key}: ${cold ? 0 : 1}\` the ${rollout.group} rollouts of a task are the same text, and \`${method.declaration.name}\` compares them: every advantage is 0.`,
        mends: multiple
          ? []
          : [
              cold
                ? model.edits.set(["rollout", "temperature"], "1", "Sample at temperature 1")
                : model.edits.set(["rollout", "top_k"], "0", "Keep all tokens: `top_k: 0`"),
            ],
      });
    }
  },
};
