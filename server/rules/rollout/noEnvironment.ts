import { playsEnvironment } from "../../core/config/shapeFacts.ts";
import { hasNoPlay } from "../tasks/environments.ts";
import { eachRlStage, pathIn, placeOf, reportAt, type Rule } from "../rule.ts";

export const noEnvironment: Rule = {
  id: "no-environment",
  title: "Tasks that nothing answers",
  why: "With `rollout.shape: environment` the task's environment answers the policy's turns: its `play` names one, or the tasks come with one, as those of `guess_number` do. Without one, tools (`rollout.tools`) may answer. Where there is neither, an episode ends after its first turn.\n\nName an environment in the task's `play`, list tools, or choose another shape.",
  check: eachRlStage((view, model) => {
    const { tasks, rollout } = view.config.body;
    if (!playsEnvironment(rollout) || rollout.tools.length > 0) return;
    const shape = placeOf(view.body, "rollout", "shape");
    for (const [index, task] of tasks.entries()) {
      if (!hasNoPlay(task)) continue;
      const path = ["tasks", String(index)];
      reportAt(model, view, noEnvironment, [["rollout", "shape"], path], {
        severity: "error",
        message: `Nothing answers the turns at \`${task.name}\`: name an environment in \`play\` of the task, list \`rollout.tools\`, or choose another shape.`,
        fileFixes: [
          model.edits.remove(pathIn(view, shape, "rollout", "shape"), "Remove `rollout.shape`", false),
        ],
      });
    }
  }),
};
