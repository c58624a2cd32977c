import { comparesSiblings } from "../../config/siblings.ts";
import { eachRlStage, pathIn, placeOf, reportAt, type Rule } from "../rule.ts";

export const groupSize: Rule = {
  id: "group-size",
  title: "Group of one with a method that compares rollouts of a group",
  why: "GRPO, RLOO and similar methods subtract from a reward what the other rollouts of its group earned (Shao et al., DeepSeekMath; Ahmadian et al., Back to Basics). In a group of one nothing is left: every advantage is 0 and nothing is learned.\n\nGenerate at least 2 rollouts per task, or choose a baseline that does not compare them.",
  check: eachRlStage((view, model) => {
    const { rollout, advantage } = view.config.body;
    const chosen = [
      ["baseline", advantage.baseline],
      ["scale", advantage.scale],
    ] as const;
    const [found] = chosen.filter(([, choice]) => comparesSiblings(choice));
    if (rollout.group !== 1 || found === undefined) return;
    const [what, { declaration }] = found;
    const message = `With \`rollout.group\` 1 the ${what} \`${declaration.name}\` leaves every advantage 0, so nothing is learned: use a group of at least 2, or \`advantage.${what}: none\`.`;
    const path = pathIn(view, placeOf(view.body, "rollout", "group"), "rollout", "group");
    reportAt(
      model,
      view,
      groupSize,
      [
        ["rollout", "group"],
        ["advantage", what],
      ],
      {
        key: "rollout.group",
        message,
        related: [{ at: placeOf(view.body, "advantage", what), message: `compares the rollouts of a group` }],
        fileFixes: [
          model.edits.set(path, "2", "Change `rollout.group` to 2 (the least that compares)"),
          model.edits.set(path, "8", "Change `rollout.group` to 8 (the default)", false),
        ],
      },
    );
  }),
};
