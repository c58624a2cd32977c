import type { StageView } from "../../config/check/model.ts";
import { scheduledRange } from "../ranges.ts";
import { eachStage, placeOf, reportAt, type Rule } from "../rule.ts";
import { hasEverySolution } from "../tasks/taskMaterial.ts";

/** Auxiliary losses that learn from written solutions at every step, by their place. */
const losses = ({ config: { body } }: StageView): readonly number[] =>
  body.auxiliary.flatMap(({ loss, when }, index) =>
    loss.declaration.name === "sft" && loss.params["data"] === "solutions" && when === "always"
      ? [index]
      : [],
  );

/** What imitates solutions has tasks with solutions. */
export const stageSolutions: Rule = {
  id: "stage-solutions",
  title: "Imitation of solutions that tasks do not have",
  why: "A stage of `kind: sft`, and an auxiliary loss `sft` with `data: solutions`, learn from the written solutions of tasks. A dataset has them if `solution` or `answer` names them; some built-in worlds, such as `maze`, write none for a task that takes several turns. The run would stop at the first such task.\n\nLimit the stage's `tasks` to those that have solutions, add `solution` to the dataset, or remove the stage.",
  check: eachStage((view, model) => {
    const { kind, body } = view.config;
    const without = body.tasks.filter(
      (task) => scheduledRange(task.weight).some((end) => end > 0) && !hasEverySolution(task),
    );
    if (without.length === 0) return;
    const names = without.map(({ name }) => `\`${name}\``).join(", ");
    const message = (who: string): string =>
      `${who} learns from written solutions, but not every task of ${names} has one: limit \`tasks\` to those that have, or remove it.`;
    if (kind === "sft")
      model.report({
        rule: stageSolutions.id,
        key: `${view.path}.kind`,
        at: placeOf(view.written, "kind") ?? model.root.origin,
        message: message("An `sft` stage"),
      });
    if (kind !== "rl") return;
    for (const index of losses(view))
      reportAt(model, view, stageSolutions, [["auxiliary", String(index)]], {
        message: message("`sft` with `data: solutions`"),
      });
  }),
};
