import { perObject } from "../../lib/perObject.ts";
import type { RewardTermConfig, StageBody } from "../../core/config/resolved.ts";
import { decidingOrder, judgesOf } from "../../core/config/termFacts.ts";
import { appliesTo } from "../ranges.ts";
import { eachRlStage, reportAt, type Rule } from "../rule.ts";

/** The term that decides on a task's rollouts, and the terms that judge its answers. */
function judges(
  { reward }: StageBody,
  task: string,
): { decides: RewardTermConfig | undefined; answers: readonly RewardTermConfig[] } {
  return {
    decides: decidingOrder(reward).find((term) => appliesTo(term, task)),
    answers: reward.terms.filter((term) => appliesTo(term, task) && judgesOf(term) === "answer"),
  };
}

/** Only where some term looks at form alone, and another one at the answer. */
const judgesBoth = perObject(({ terms }: StageBody["reward"]): boolean =>
  ["form", "answer"].every((what) => terms.some((term) => judgesOf(term) === what)),
);

/** A success is decided by a term that looks at the answer, where there is one. */
export const successForm: Rule = {
  id: "success-form",
  title: "Success decided by form, not by the answer",
  why: "pass@k, `success_band`, the signal `success_rate`, replay of successes and the counts of correct and wrong groups all ask whether a rollout succeeded. By default the first term that applies decides. If that is a term for form or length, a well-formed wrong answer counts as solved: the curriculum takes well-formed answers for solved tasks, and the filter passes groups in which nothing is correct.\n\nName the terms that judge answers in `reward.success.terms`.",
  check: eachRlStage((view, model) => {
    const { body } = view.config;
    if (!judgesBoth(body.reward)) return;
    for (const task of body.tasks) {
      const { decides, answers } = judges(body, task.name);
      if (decides === undefined || judgesOf(decides) !== "form" || answers.length === 0) continue;
      const names = answers.map(({ name }) => name);
      const paths = [
        ["reward", "success", "terms"],
        ["reward", "terms", decides.name],
      ];
      reportAt(model, view, successForm, paths, {
        severity: "warning",
        message: `A rollout counts as solved by \`${decides.name}\`, which looks only at form, while ${names.map((name) => `\`${name}\``).join(" and ")} ${names.length === 1 ? "judges" : "judge"} the answer: name ${names.length === 1 ? "it" : "them"} in \`reward.success.terms\`.`,
        fileFixes: [
          model.edits.set(
            ["reward", "success", "terms"],
            `[${names.join(", ")}]`,
            `Let ${names.map((name) => `\`${name}\``).join(" and ")} decide`,
          ),
        ],
      });
      break;
    }
  }),
};
